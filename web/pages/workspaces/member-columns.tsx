import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { loadSession } from "../../app/load-session";
import { me } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import type { Column } from "../../ui/data-table";
import { EmailAddress } from "../../ui/email-address";
import { RelativeTime } from "../../ui/relative-time";
import { ROLES, type Role, toRoleName, withArticle } from "./roles";

export type Member = Schemas["WorkspaceMember"];

type ColumnOptions = {
  /** ID of the workspace. */
  id: string;
  isPersonal: boolean;
  canManage: boolean;
  /** The only owner, who cannot leave. Null if there are several, or if it is unknown. */
  lastOwnerId: string | null;
  onChange(): Promise<void>;
  onRemove(member: Member): void;
};

/** Returns the columns of the member table. Users who may not change members see no controls. */
export function createMemberColumns(options: ColumnOptions): Column<Member>[] {
  const { id, isPersonal, canManage, lastOwnerId, onChange, onRemove } = options;
  const columns: Column<Member>[] = [
    { title: "Name", width: "minmax(0, 2fr)", cell: (member) => <MemberName member={member} /> },
    {
      title: "Role",
      cell: (member) =>
        canManage ? (
          <RoleSelect
            workspaceId={id}
            member={member}
            isLocked={member.user_id === lastOwnerId}
            onChange={() => void onChange()}
          />
        ) : (
          toRoleName(member.role)
        ),
    },
    { title: "Since", cell: ({ created_at: time }) => <RelativeTime iso={time} /> },
  ];
  if (isPersonal) return columns;
  columns.push({
    title: "Actions",
    isTitleHidden: true,
    width: "6rem",
    cell: (member) => {
      const isMe = member.user_id === me.value?.id;
      if (member.user_id === lastOwnerId || (!isMe && !canManage)) return null;
      return (
        <Button
          aria-label={isMe ? "Leave the workspace" : `Remove ${member.name ?? member.email}`}
          onClick={() => onRemove(member)}
        >
          {isMe ? "Leave" : "Remove"}
        </Button>
      );
    },
  });
  return columns;
}

const MemberName = ({
  member: { user_id: userId, name, email, email_verified_at: verifiedAt },
}: {
  member: Member;
}) => (
  <span class="member">
    <span class="name-cell">
      <span class="truncate" title={name ?? email} dir="auto">
        {name ?? <EmailAddress address={email} />}
      </span>
      {userId === me.value?.id && <span class="status">You</span>}
      {verifiedAt === null && <span class="status warning">Not confirmed</span>}
    </span>
    {name && (
      <span class="soft truncate" title={email}>
        <EmailAddress address={email} />
      </span>
    )}
  </span>
);

type RoleSelectProps = { workspaceId: string; member: Schemas["WorkspaceMember"]; isLocked: boolean; onChange(): void };

/** Changes the role of a member. The change is saved immediately. */
function RoleSelect({ workspaceId, member, isLocked, onChange }: RoleSelectProps) {
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
