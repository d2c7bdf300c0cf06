import { useState } from "preact/hooks";
import type { AccountRole } from "../../../../src/domain/access";
import { api, type Schemas } from "../../../app/api";
import { formatTime } from "../../../app/format";
import { readPermissions } from "../../../app/load-session";
import { isBilled, me } from "../../../app/session";
import { showFailure } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { LinkField, ShownOnceDialog } from "../../../ui/copy-field";
import { ConfirmDialog } from "../../../ui/dialog";
import { Section } from "../../../ui/section";
import { mustAdmin } from "../admin-frame";
import { type AdminUserDetail, describeAccess, describeContents } from "./user-texts";

type AccessSectionProps = { user: AdminUserDetail; onChanged(): Promise<void> };

/** Shows the role, the password reset link and the account's state. */
export function AccessSection({ user, onChanged }: AccessSectionProps) {
  const [asking, setAsking] = useState<AccessChange | null>(null);
  const [link, setLink] = useState<Schemas["AccountLink"] | null>(null);
  const params = { path: { user_id: user.id } };
  const isSelf = me.value?.id === user.id;
  const change = async (body: { role?: AccountRole; disabled?: boolean }) => {
    await mustAdmin(api.PATCH("/api/v1/admin/users/{user_id}", { params, body }));
    // Administrators who changed their own account may have lost the role.
    if (isSelf) await readPermissions();
    await onChanged();
  };
  const attempt = (work: () => Promise<void>) => void work().catch(showFailure);
  return (
    <Section title="Access">
      <div class="setting">
        <p>
          <strong>{user.role === "admin" ? "Administrator" : "Member"}</strong>
          <span class="soft">
            {user.role === "admin"
              ? `Manages users${isBilled.value ? ", orders" : ""} and the server.`
              : "Has a personal workspace, and joins others by invitation."}
          </span>
        </p>
        <Button onClick={() => setAsking(user.role === "admin" ? "demote" : "promote")}>
          {user.role === "admin" ? "Make member" : "Make administrator"}
        </Button>
      </div>
      <div class="setting">
        <p>
          <strong>{user.disabled ? "Disabled" : "Enabled"}</strong>
          <span class="soft">
            {user.disabled ? "Cannot sign in; API keys are rejected." : `Has ${describeAccess(user)}.`}
          </span>
        </p>
        {user.disabled ? (
          <Button onClick={() => attempt(() => change({ disabled: false }))}>Enable</Button>
        ) : (
          <Button look="danger" onClick={() => setAsking("disable")}>
            Disable
          </Button>
        )}
      </div>
      <div class="setting">
        <p>
          <strong>Password</strong>
          <span class="soft">Create a link for setting a new password. The current password works until then.</span>
        </p>
        <Button
          icon="link"
          onClick={() =>
            attempt(async () =>
              setLink(await mustAdmin(api.POST("/api/v1/admin/users/{user_id}/password-reset", { params }))),
            )
          }
        >
          Create reset link
        </Button>
      </div>
      {link !== null && <ResetLink email={user.email} link={link} onClose={() => setLink(null)} />}
      {asking !== null && (
        <AccessDialog user={user} isSelf={isSelf} asking={asking} change={change} onClose={() => setAsking(null)} />
      )}
    </Section>
  );
}

type ResetLinkProps = { email: string; link: Schemas["AccountLink"]; onClose(): void };

/** Shows a password reset link once. */
const ResetLink = ({ email, link, onClose }: ResetLinkProps) => (
  <ShownOnceDialog title="Reset link created" onClose={onClose}>
    <p>
      <strong dir="auto">{email}</strong> can set a new password with this link. It works once, until{" "}
      {formatTime(link.expires_at)}. Anyone with the link can take over the account, so send it only to this user.
    </p>
    <LinkField label="Reset link" value={link.url} hint="It is not shown again." isFirst />
  </ShownOnceDialog>
);

/** The changes that need confirmation. */
type AccessChange = "demote" | "promote" | "disable";

type AccessDialogProps = {
  user: AdminUserDetail;
  isSelf: boolean;
  asking: AccessChange;
  change(body: { role?: AccountRole; disabled?: boolean }): Promise<void>;
  onClose(): void;
};

/** Asks for confirmation before access is granted or removed. */
function AccessDialog({ user, isSelf, asking, change, onClose }: AccessDialogProps) {
  const email = <strong dir="auto">{user.email}</strong>;
  const texts = {
    promote: {
      title: "Make administrator?",
      label: "Make administrator",
      body: { role: "admin" as const },
      text: (
        <>
          {email} can then manage {isBilled.value ? "all users, credits and orders" : "all users"}, and see the audit
          log and the names of all recordings.
        </>
      ),
    },
    demote: {
      title: isSelf ? "Give up the administrator role?" : "Make member?",
      label: "Make member",
      body: { role: "member" as const },
      text: isSelf ? (
        <>You lose access to the administration pages. Another administrator can restore the role.</>
      ) : (
        <>{email} loses access to the administration pages. Everything else in the account stays as it is.</>
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
