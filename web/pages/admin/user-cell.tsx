import { EmailAddress } from "../../ui/email-address";

type UserCellProps = {
  /** Null if the account was deleted. */
  user: { id: string; email: string } | null;
  /** Shown unless it is the user's personal workspace. */
  workspace: { id: string; name: string } | null;
};

/** A user with a link to the account, and the shared workspace concerned. */
export const UserCell = ({ user, workspace }: UserCellProps) => (
  <div class="two-lines">
    {user === null ? (
      <span class="soft">Deleted user</span>
    ) : (
      <a class="truncate" href={`/admin/users/${user.id}`} title={user.email} dir="auto">
        <EmailAddress address={user.email} />
      </a>
    )}
    {workspace !== null && workspace.id !== user?.id && (
      <span class="soft truncate" title={workspace.name} dir="auto">
        {workspace.name}
      </span>
    )}
  </div>
);
