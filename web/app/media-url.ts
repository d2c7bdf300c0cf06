/** Addresses of what the pages show of a recording. Elements cannot send the header that names a workspace. */
import { currentWorkspaceId } from "./session";

export function mediaUrl(assetId: string, path: string, query: Record<string, string> = {}): string {
  const workspaceId = currentWorkspaceId();
  const params = new URLSearchParams(query);
  if (workspaceId !== null) params.set("workspace_id", workspaceId);
  const text = params.toString();
  return `/api/v1/assets/${assetId}/${path}${text === "" ? "" : `?${text}`}`;
}
