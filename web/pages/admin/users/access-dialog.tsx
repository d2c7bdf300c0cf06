import { isBilled } from "../../../app/session";
import { ConfirmDialog } from "../../../ui/confirm-dialog";
import { type AdminUserDetail, describeAccess, describeContents } from "./losses";

/** The changes that need confirmation. */
export type AccessChange = "demote" | "promote" | "disable";

type AccessDialogProps = {
  user: AdminUserDetail;
  isSelf: boolean;
  asking: AccessChange;
  change(body: { role?: "admin" | "member"; disabled?: boolean }): Promise<void>;
  onClose(): void;
};

/** Asks for confirmation before access is granted or removed. */
export function AccessDialog({ user, isSelf, asking, change, onClose }: AccessDialogProps) {
  const email = <strong dir="auto">{user.email}</strong>;
  const texts = {
    promote: {
      title: "Make administrator?",
      label: "Make administrator",
      body: { role: "admin" as const },
      text: (
        <>
          {email} can then manage all users{isBilled.value && " with their credits, approve orders"}, and see the names
          of all recordings, jobs and the audit log.
        </>
      ),
    },
    demote: {
      title: isSelf ? "Give up the administrator role?" : "Make member?",
      label: "Make member",
      body: { role: "member" as const },
      text: isSelf ? (
        <>You can no longer open the administration pages. Another administrator can restore the role.</>
      ) : (
        <>{email} can no longer open the administration pages. Everything else in the account stays as it is.</>
      ),
    },
    disable: {
      title: isSelf ? "Disable your own account?" : "Disable this account?",
      label: "Disable account",
      body: { disabled: true },
      text: (
        <>
          {isSelf ? "You are signed out at once. " : ""}
          {email} can no longer sign in; {describeAccess(user)} stop working until the account is enabled again. Nothing
          is deleted: {describeContents(user)} are kept, and running jobs finish.
        </>
      ),
    },
  }[asking];
  return (
    <ConfirmDialog
      title={texts.title}
      confirmLabel={texts.label}
      onConfirm={() => change(texts.body)}
      onClose={onClose}
    >
      <p>{texts.text}</p>
    </ConfirmDialog>
  );
}
