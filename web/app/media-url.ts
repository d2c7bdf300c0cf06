/** Builds the addresses of a recording's media. HTML elements cannot send the header that names a workspace. */
import { currentWorkspaceId } from "./session";

export const mediaUrl = (assetId: string, path: string, query: Record<string, string> = {}): string =>
  inWorkspace(currentWorkspaceId(), `/api/v1/assets/${assetId}/${path}`, query);

export const exportUrl = (workspaceId: string | null, exportId: string): string =>
  inWorkspace(workspaceId, `/api/v1/exports/${exportId}/file`, {});

function inWorkspace(workspaceId: string | null, path: string, query: Record<string, string>): string {
  const params = new URLSearchParams(query);
  if (workspaceId !== null) params.set("workspace_id", workspaceId);
  const text = params.toString();
  return `${path}${text === "" ? "" : `?${text}`}`;
}
