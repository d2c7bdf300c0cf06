import { useLocation } from "preact-iso";
import { chooseWorkspace, toWorkspaceName, workspace, workspaces } from "../app/session";

const ALL = "all";

/** Switches the workspace. Hidden for users with only one. */
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
          // The select keeps its value until the switch has happened.
          event.currentTarget.value = workspace.value?.id ?? "";
          return route("/workspaces");
        }
        chooseWorkspace(value);
        // The open page belongs to the previous workspace.
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
