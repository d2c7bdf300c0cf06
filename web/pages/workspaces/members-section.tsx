import { useId, useMemo, useState } from "preact/hooks";
import { MAX_EMAIL_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { formatTime } from "../../app/format";
import { loadSession } from "../../app/load-session";
import { leftWorkspaces, me } from "../../app/session";
import { useSignInMethods } from "../../app/shared-reads";
import { showToast } from "../../app/toasts";
import { PersonCell } from "../../ui/avatar";
import { Button } from "../../ui/button";
import { LinkField, ShownOnceDialog } from "../../ui/copy-field";
import { type Column, createActionsColumn, DataTable } from "../../ui/data-table";
import { ConfirmDialog } from "../../ui/dialog";
import { EmailAddress } from "../../ui/email-address";
import { Field } from "../../ui/form";
import { FormDialog } from "../../ui/form-dialog";
import { Section } from "../../ui/section";
import { Empty } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import { useBusy } from "../../ui/use-busy";
import { describeRole, ROLES, type Role, toRoleName, withArticle } from "./roles";

type MembersSectionProps = { value: Schemas["WorkspaceDetail"]; onChange(): void; onLeft(): Promise<void> };

/** The members of a workspace and their roles. */
export function MembersSection({ value, onChange, onLeft }: MembersSectionProps) {
  const [isAdding, setIsAdding] = useState(false);
  const [removed, setRemoved] = useState<Member | null>(null);
  const { id, role, is_personal: isPersonal } = value;
  const list = useOffsetList<Member>(["members", id], (query, signal) => {
    const params = { path: { workspace_id: id }, query };
    return must(api.GET("/api/v1/workspaces/{workspace_id}/members", { params, signal }));
  });
  const owners = list.items.value?.filter((member) => member.role === "owner") ?? [];
  // Unknown until all members are loaded. The API then rejects the change.
  const lastOwnerId = !list.hasMore.value && owners.length === 1 ? owners[0]!.user_id : null;
  const canManage = role === "owner" && !isPersonal;
  const reload = async () => {
    await list.reload();
    onChange();
  };
  const columns = useMemo(
    () => createMemberColumns({ id, isPersonal, canManage, lastOwnerId, onChange: reload, onRemove: setRemoved }),
    [list, id, canManage, isPersonal, lastOwnerId],
  );
  return (
    <Section
      title="Members"
      hint={
        isPersonal
          ? "Only you have access to your personal workspace. To work with others, create a workspace."
          : lastOwnerId &&
            canManage &&
            "The last owner cannot leave or give up the role. Make another member an owner first."
      }
      actions={
        canManage && (
          <Button icon="plus" onClick={() => setIsAdding(true)}>
            Invite a member
          </Button>
        )
      }
    >
      <div>
        <DataTable caption="Members" columns={columns} list={list} empty={<Empty title="No members" icon="user" />} />
      </div>
      {isAdding && (
        <AddMemberDialog workspaceId={id} onAdded={() => void reload()} onClose={() => setIsAdding(false)} />
      )}
      {removed && (
        <RemoveMemberDialog
          workspace={value}
          member={removed}
          onRemoved={reload}
          onLeft={onLeft}
          onClose={() => setRemoved(null)}
        />
      )}
    </Section>
  );
}

type RemoveMemberProps = {
  workspace: Schemas["WorkspaceDetail"];
  member: Schemas["WorkspaceMember"];
  onRemoved(): Promise<void>;
  onLeft(): Promise<void>;
  onClose(): void;
};

/** Removes a member, or leaves the workspace, after a warning about the losses. */
function RemoveMemberDialog({ workspace, member, onRemoved, onLeft, onClose }: RemoveMemberProps) {
  const isMe = member.user_id === me.value?.id;
  const params = { path: { workspace_id: workspace.id, user_id: member.user_id } };
  return (
    <ConfirmDialog
      title={isMe ? "Leave this workspace?" : "Remove this member?"}
      confirmLabel={isMe ? "Leave" : "Remove"}
      onConfirm={async () => {
        if (isMe) leftWorkspaces.add(workspace.id);
        const call = api.DELETE("/api/v1/workspaces/{workspace_id}/members/{user_id}", { params });
        await must(call).catch((error: unknown) => {
          leftWorkspaces.delete(workspace.id);
          throw error;
        });
        await (isMe ? onLeft() : onRemoved());
      }}
      onClose={onClose}
    >
      {isMe ? (
        <p>
          You lose access to everything in <strong dir="auto">{workspace.name}</strong>. What you added stays. Your API
          keys for it are revoked, and only an owner can invite you again.
        </p>
      ) : (
        <p>
          <strong dir="auto">{member.name ?? member.email}</strong> loses access to everything in{" "}
          <strong dir="auto">{workspace.name}</strong> immediately. Their API keys for it and the invitations that they
          sent are revoked. What they added stays.
        </p>
      )}
    </ConfirmDialog>
  );
}

type Member = Schemas["WorkspaceMember"];

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
function createMemberColumns(options: ColumnOptions): Column<Member>[] {
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
  columns.push(
    createActionsColumn("6rem", (member) => {
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
    }),
  );
  return columns;
}

const MemberName = ({
  member: { user_id: userId, name, email, email_verified_at: verifiedAt },
}: {
  member: Member;
}) => (
  <PersonCell person={{ id: userId, name: name ?? email }}>
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
  </PersonCell>
);

type RoleSelectProps = { workspaceId: string; member: Schemas["WorkspaceMember"]; isLocked: boolean; onChange(): void };

/** Changes the role of a member. The change is saved immediately. */
function RoleSelect({ workspaceId, member, isLocked, onChange }: RoleSelectProps) {
  const { isBusy, run } = useBusy();
  const name = member.name ?? member.email;
  const change = (select: HTMLSelectElement) =>
    run(async () => {
      const role = select.value as Role;
      const params = { path: { workspace_id: workspaceId, user_id: member.user_id } };
      const call = api.PATCH("/api/v1/workspaces/{workspace_id}/members/{user_id}", { params, body: { role } });
      await must(call).catch((error: unknown) => {
        select.value = member.role;
        throw error;
      });
      showToast({ kind: "info", text: `${name} is now ${withArticle(role)}.` });
      if (member.user_id === me.value?.id) await loadSession();
      onChange();
    });
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

type AddMemberProps = { workspaceId: string; onAdded(): void; onClose(): void };
type Invited = { email: string; url: string; expiresAt: string };

/** Invites a member by address. Shows the invitation link once. */
function AddMemberDialog({ workspaceId, onAdded, onClose }: AddMemberProps) {
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
