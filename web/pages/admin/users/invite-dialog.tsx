import { useState } from "preact/hooks";
import { api, type Schemas } from "../../../app/api";
import { formatTime } from "../../../app/format";
import { isBilled } from "../../../app/session";
import { CopyField } from "../../../ui/copy-field";
import { Dialog } from "../../../ui/dialog";
import { FormActions } from "../../../ui/dialog-actions";
import { Field, SelectField } from "../../../ui/field";
import { Form } from "../../../ui/form";
import { ShownOnceDialog } from "../../../ui/shown-once-dialog";
import { mustAdmin } from "../admin-api";

type InvitedUser = Schemas["InvitedUser"];
type InviteDialogProps = { onInvited(): void; onClose(): void };

const ROLES = [
  { value: "member", label: "Member" },
  { value: "admin", label: "Administrator" },
];

/** Creates an account and shows a link with which its owner sets a password. */
export function InviteDialog({ onInvited, onClose }: InviteDialogProps) {
  const [invited, setInvited] = useState<InvitedUser | null>(null);
  if (invited !== null) return <InvitationLink invited={invited} onClose={onClose} />;
  return (
    <Dialog title="Invite user" onClose={onClose}>
      <Form
        class="dialog-body"
        onSend={async ({ email = "", role, credits = "" }) => {
          const body = {
            email: email.trim(),
            role: role === "admin" ? ("admin" as const) : ("member" as const),
            credits: credits === "" ? undefined : Number(credits),
          };
          setInvited(await mustAdmin(api.POST("/api/v1/admin/users", { body })));
          onInvited();
        }}
      >
        {({ errors, isSending }) => (
          <>
            <Field label="Email" name="email" type="email" required isFirst autocomplete="off" error={errors.email} />
            <SelectField label="Role" name="role" options={ROLES} />
            {isBilled.value && (
              <Field
                label="Credits"
                name="credits"
                type="number"
                min={0}
                max={1_000_000_000}
                step={1}
                hint="Leave empty for the default credits of a new account."
                error={errors.credits}
              />
            )}
            <FormActions submitLabel="Invite" isSending={isSending} onCancel={onClose} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function InvitationLink({ invited, onClose }: { invited: InvitedUser; onClose(): void }) {
  return (
    <ShownOnceDialog title="Invitation created" onClose={onClose}>
      <p dir="auto">
        <strong>{invited.user.email}</strong> can set a password with this link. It works once, until{" "}
        {formatTime(invited.expires_at)}.
      </p>
      {invited.invitation_url !== null && (
        <CopyField
          label="Invitation link"
          value={invited.invitation_url}
          hint="It is not shown again. It was also sent by email if the server has a mail server."
          isFirst
        />
      )}
    </ShownOnceDialog>
  );
}
