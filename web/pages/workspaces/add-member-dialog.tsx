import { useId, useState } from "preact/hooks";
import { MAX_EMAIL_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { formatTime } from "../../app/format";
import { useSignInMethods } from "../../app/shared-reads";
import { LinkField, ShownOnceDialog } from "../../ui/copy-field";
import { Field } from "../../ui/form";
import { FormDialog } from "../../ui/form-dialog";
import { describeRole, ROLES, type Role } from "./roles";

type AddMemberProps = { workspaceId: string; onAdded(): void; onClose(): void };
type Invited = { email: string; url: string; expiresAt: string };

/** Invites a member by address. Shows the invitation link once. */
export function AddMemberDialog({ workspaceId, onAdded, onClose }: AddMemberProps) {
  const [invited, setInvited] = useState<Invited | null>(null);
  const finish = () => {
    onClose();
    // Not called while the link is shown: a page that fails to load would remove it.
    onAdded();
  };
  if (invited !== null) return <InvitationDialog invited={invited} onClose={finish} />;
  const add = async (email: string, role: Role) => {
    const params = { path: { workspace_id: workspaceId } };
    const call = api.POST("/api/v1/workspaces/{workspace_id}/members", { params, body: { email, role } });
    const added: Schemas["AddedMember"] = await must(call);
    setInvited({ email, url: added.invitation_url ?? "", expiresAt: added.expires_at ?? "" });
  };
  return (
    <FormDialog
      title="Invite a member"
      submitLabel="Invite"
      onSend={({ email = "", role = "viewer" }) => add(email.trim(), role as Role)}
      onClose={onClose}
    >
      <Field
        label="Email"
        name="email"
        type="email"
        autocomplete="off"
        maxLength={MAX_EMAIL_CHARACTERS}
        spellcheck={false}
        required
        isFirst
        hint="They become a member when they accept the invitation."
      />
      <RoleChoice />
    </FormDialog>
  );
}

function RoleChoice() {
  const id = useId();
  return (
    <fieldset class="role-choice">
      <legend class="label">Role</legend>
      {ROLES.map(({ value, label }) => (
        <label key={value} class="check">
          <input
            type="radio"
            name="role"
            value={value}
            defaultChecked={value === "editor"}
            aria-describedby={`${id}-${value}`}
          />
          <span>
            {label}{" "}
            <span class="soft" id={`${id}-${value}`}>
              {describeRole(value)}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function InvitationDialog({ invited, onClose }: { invited: Invited; onClose(): void }) {
  const methods = useSignInMethods();
  const state = methods.state.value;
  return (
    <ShownOnceDialog title="Invitation created" onClose={onClose}>
      <p>
        {state.kind === "loading" ? null : state.kind === "failed" ? (
          <>
            If the invitation email does not arrive, send this link to <strong>{invited.email}</strong>.
          </>
        ) : state.value.email ? (
          <>
            The invitation was sent to <strong>{invited.email}</strong>. You can also send this link yourself.
          </>
        ) : (
          <>
            This server does not send email. Send this link to <strong>{invited.email}</strong> yourself.
          </>
        )}
      </p>
      <LinkField
        label="Invitation link"
        value={invited.url}
        isFirst
        hint={`It works once, until ${formatTime(invited.expiresAt)}, and is not shown again.`}
      />
    </ShownOnceDialog>
  );
}
