import type { Schemas } from "../../../app/api";
import { formatTime } from "../../../app/format";
import { CopyField } from "../../../ui/copy-field";
import { ShownOnceDialog } from "../../../ui/shown-once-dialog";

type ResetLinkProps = { email: string; link: Schemas["AccountLink"]; onClose(): void };

/** Shows a password reset link once. */
export const ResetLink = ({ email, link, onClose }: ResetLinkProps) => (
  <ShownOnceDialog title="Reset link created" onClose={onClose}>
    <p>
      <strong dir="auto">{email}</strong> can set a new password with this link. It works once, until{" "}
      {formatTime(link.expires_at)}. Anyone with the link can take over the account, so send it only to this user.
    </p>
    <CopyField label="Reset link" value={link.url} hint="It is not shown again." isFirst />
  </ShownOnceDialog>
);
