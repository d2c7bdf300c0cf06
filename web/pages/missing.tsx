import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { api, must } from "../app/api";
import { useRead } from "../app/cache";
import { enterWorkspace, toWorkspaceName, type Workspace, workspace } from "../app/session";
import { showToast } from "../app/toasts";
import { isUuid } from "../app/use-query";
import { ErrorPanel, ListSkeleton } from "../ui/states";

/** Returns the user's workspace that contains this resource, or null. Throws `ApiError`. */
async function findWorkspaceWith(id: string, signal: AbortSignal): Promise<Workspace | null> {
  if (!isUuid(id)) return null;
  const { items } = await must(
    api.GET("/api/v1/workspaces", { params: { query: { containing: id, limit: 1 } }, signal }),
  );
  return items[0] ?? null;
}

/** Switches to another workspace and announces it. */
function switchWorkspace(found: Workspace): void {
  enterWorkspace(found);
  showToast({ kind: "info", text: `Switched to workspace ${toWorkspaceName(found)}.` });
}

type MissingProps = {
  id: string;
  /** The ID of the workspace that does not contain it. */
  from?: string | undefined;
  onFound?(found: Workspace): void;
  skeleton?: ComponentChildren;
  children: ComponentChildren;
};

/**
 * Replaces the page of a resource that the current workspace does not contain. Switches to the user's workspace that
 * contains it, where the page loads again, or renders `children`.
 */
export function Missing({
  id,
  from = workspace.value?.id,
  onFound = switchWorkspace,
  skeleton = <ListSkeleton />,
  children,
}: MissingProps) {
  const search = useRead(["workspace-of", id, from], (signal) => findWorkspaceWith(id, signal));
  const state = search.state.value;
  const found = state.kind === "ready" ? state.value : null;
  // If the resource is missing from its own workspace, it was just created or deleted. Switching again would loop.
  const isElsewhere = found !== null && found.id !== from;
  useEffect(() => {
    if (isElsewhere) onFound(found);
  }, [isElsewhere]);
  if (state.kind === "failed") return <ErrorPanel error={state.error} onRetry={() => void search.reload()} />;
  return state.kind === "loading" || isElsewhere ? skeleton : children;
}
