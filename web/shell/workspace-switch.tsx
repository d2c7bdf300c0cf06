import { useLocation } from "preact-iso";
import { chooseWorkspace, toWorkspaceName, workspace, workspaces } from "../app/session";

const ALL = "all";

/** Chooses the workspace. It is not there for users who have only their own. */
export function WorkspaceSwitch() {
  const { route } = useLocation();
  if (workspaces.value.length < 2) return null;
  return (
    <select
      class="input workspace-switch"
      aria-label="Workspace"
      value={workspace.value?.id}
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value === ALL) {
          // Until another one is chosen, the workspace stays the same.
          event.currentTarget.value = workspace.value?.id ?? "";
          return route("/workspaces");
        }
        chooseWorkspace(value);
        // What is open belongs to the other workspace.
        route("/projects");
      }}
    >
      {workspaces.value.map((one) => (
        <option key={one.id} value={one.id}>
          {toWorkspaceName(one)}
        </option>
      ))}
      <hr />
      <option value={ALL}>All workspaces…</option>
    </select>
  );
}
