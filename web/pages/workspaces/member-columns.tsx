import type { Schemas } from "../../app/api";
import { me } from "../../app/session";
import { Button } from "../../ui/button";
import type { Column } from "../../ui/data-table";
import { EmailAddress } from "../../ui/email-address";
import { RelativeTime } from "../../ui/relative-time";
import { RoleSelect } from "./role-select";
import { toRoleName } from "./roles";

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
