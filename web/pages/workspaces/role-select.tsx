import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { loadSession } from "../../app/load-session";
import { me } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { ROLES, type Role, withArticle } from "./roles";

type RoleSelectProps = { workspaceId: string; member: Schemas["WorkspaceMember"]; isLocked: boolean; onChange(): void };

/** Changes the role of a member. The change is saved immediately. */
export function RoleSelect({ workspaceId, member, isLocked, onChange }: RoleSelectProps) {
  const [isBusy, setIsBusy] = useState(false);
  const name = member.name ?? member.email;
  const change = async (select: HTMLSelectElement) => {
    const role = select.value as Role;
    setIsBusy(true);
    try {
      const params = { path: { workspace_id: workspaceId, user_id: member.user_id } };
      const call = api.PATCH("/api/v1/workspaces/{workspace_id}/members/{user_id}", { params, body: { role } });
      await must(call);
      showToast({
        kind: "info",
        text: `${name} is now ${withArticle(role)}.`,
      });
      if (member.user_id === me.value?.id) await loadSession();
      onChange();
    } catch (error) {
      select.value = member.role;
      showFailure(error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <select
      class="input"
      aria-label={`Role of ${name}`}
      value={member.role}
      disabled={isLocked || isBusy}
      onChange={(event) => void change(event.currentTarget)}
    >
      {ROLES.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
