import { useMemo, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { MAX_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { useOffsetList, useRead } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatBytes, formatCount, formatDay } from "../../app/format";
import { loadSession } from "../../app/load-session";
import { chooseWorkspace, isBilled, leftWorkspaces, toWorkspaceName, workspace } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { type Column, createActionsColumn, DataTable } from "../../ui/data-table";
import { ConfirmButton, ConfirmDialog } from "../../ui/dialog";
import { EmailAddress } from "../../ui/email-address";
import { NameDialog } from "../../ui/form-dialog";
import { NotFoundPage, Page } from "../../ui/page";
import { Section } from "../../ui/section";
import { ResourceView } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import { VocabularyList } from "../vocabulary/vocabulary-list";
import { MembersSection } from "./members-section";
import { toRoleName } from "./roles";

type WorkspaceDetail = Schemas["WorkspaceDetail"];

/** Shows a workspace: its usage, its members, and the settings for its owners. */
export default function WorkspacePage() {
  const workspaceId = useRoute().params.workspaceId ?? "";
  const params = { path: { workspace_id: workspaceId } };
  const detail = useRead(["workspace", workspaceId], (signal) =>
    must(api.GET("/api/v1/workspaces/{workspace_id}", { params, signal })),
  );
  return (
    <ResourceView resource={detail} notFound={<NotFoundPage />}>
      {(value) => <Shown key={workspaceId} value={value} onChange={() => void detail.reload()} />}
    </ResourceView>
  );
}

function Shown({ value, onChange }: { value: WorkspaceDetail; onChange(): void }) {
  const { route } = useLocation();
  const [isRenaming, setIsRenaming] = useState(false);
  // Changes when an invitation is created, to reload the list.
  const [invitations, setInvitations] = useState(0);
  const { id, is_personal: isPersonal } = value;
  const isOwner = value.role === "owner";
  const leave = async (text: string) => {
    await loadSession();
    showToast({ kind: "info", text });
    route("/workspaces");
  };
  const enter = () => {
    chooseWorkspace(id);
    route("/projects");
  };
  return (
    <Page
      title={toWorkspaceName(value)}
      crumb={{ label: "Workspaces", href: "/workspaces" }}
      actions={
        <>
          {isOwner && !isPersonal && <Button onClick={() => setIsRenaming(true)}>Rename</Button>}
          <Button look="primary" icon="projects" onClick={enter}>
            {workspace.value?.id === id ? "Open projects" : "Switch to this workspace"}
          </Button>
        </>
      }
    >
      <div class="workspace-detail">
        <UsageSection value={value} />
        <MembersSection
          value={value}
          onChange={() => {
            onChange();
            setInvitations(invitations + 1);
          }}
          onLeft={() => leave(`You have left ${value.name}.`)}
        />
        <Section
          title="Vocabulary"
          hint="Names and terms in their correct spelling. New transcripts and cuts of all projects use them."
        >
          <VocabularyList owner={{ workspaceId: id, projectId: null }} canEdit={value.role !== "viewer"} />
        </Section>
        {isOwner && !isPersonal && <InvitationsSection key={invitations} workspaceId={id} />}
        {isOwner && !isPersonal && (
          <DeleteSection value={value} onDeleted={() => leave(`${value.name} was deleted with everything in it.`)} />
        )}
      </div>
      {isRenaming && (
        <NameDialog
          maxLength={MAX_NAME_CHARACTERS}
          title="Rename workspace"
          submitLabel="Rename"
          value={value.name}
          onSend={async (name) => {
            const path = { workspace_id: id };
            const call = api.PATCH("/api/v1/workspaces/{workspace_id}", { params: { path }, body: { name } });
            await must(call);
            setIsRenaming(false);
            await loadSession();
            onChange();
          }}
          onClose={() => setIsRenaming(false)}
        />
      )}
    </Page>
  );
}

/** The storage and the credits that a workspace uses. */
const UsageSection = ({ value }: { value: Schemas["WorkspaceDetail"] }) => (
  <Section title="Usage">
    <dl class="usage">
      <div>
        <dt>Storage used</dt>
        <dd>
          <span class="usage-figure">{formatBytes(value.storage_used_bytes)}</span>
          <Quota used={value.storage_used_bytes} quota={value.storage_quota_bytes} />
        </dd>
      </div>
      {isBilled.value && (
        <>
          <div>
            <dt>Available credits</dt>
            <dd>
              <span class="usage-figure">{toNumber(value.credits_balance)}</span>
              <span class="soft">{toNumber(value.credits_held)} on hold</span>
            </dd>
          </div>
          <div>
            <dt>Credits used</dt>
            <dd>
              <span class="usage-figure">{toNumber(value.credits_used)}</span>
              {workspace.value?.id === value.id && <a href="/credits">Credits and orders</a>}
            </dd>
          </div>
        </>
      )}
      <div>
        <dt>Content</dt>
        <dd>
          <span class="usage-figure">{formatCount(value.project_count, "project")}</span>
          <span class="soft">
            {formatCount(value.asset_count, "recording")}, {formatCount(value.render_count, "render")}
          </span>
        </dd>
      </div>
    </dl>
  </Section>
);

const NEARLY_FULL = 0.9;

function Quota({ used, quota }: { used: number; quota: number | null }) {
  if (quota === null) return <span class="soft">No limit</span>;
  const text = `of ${formatBytes(quota)}`;
  return (
    <>
      <progress class="progress" aria-label="Storage used" max={quota} value={Math.min(used, quota)} />
      <span class={used >= quota * NEARLY_FULL ? undefined : "soft"}>
        {text}
        {used >= quota && ": full. Delete recordings or renders to make room."}
      </span>
    </>
  );
}

type Invitation = Schemas["WorkspaceInvitation"];

/** Pending invitations. */
function InvitationsSection({ workspaceId }: { workspaceId: string }) {
  const [revoked, setRevoked] = useState<Invitation | null>(null);
  const list = useOffsetList<Invitation>(["invitations", workspaceId], (query, signal) => {
    const params = { path: { workspace_id: workspaceId }, query };
    return must(api.GET("/api/v1/workspaces/{workspace_id}/invitations", { params, signal }));
  });
  const columns = useMemo(() => createColumns(setRevoked), []);
  return (
    <Section
      title="Invitations"
      hint="Links that have not been used yet. For a new link, invite the same address again."
    >
      <div>
        <DataTable
          caption="Invitations"
          columns={columns}
          list={list}
          empty={<p class="soft">No pending invitations.</p>}
        />
      </div>
      {revoked && (
        <ConfirmDialog
          title="Revoke this invitation?"
          confirmLabel="Revoke"
          onConfirm={async () => {
            const params = { path: { workspace_id: workspaceId, invitation_id: revoked.id } };
            const call = api.DELETE("/api/v1/workspaces/{workspace_id}/invitations/{invitation_id}", { params });
            await must(call);
            showToast({ kind: "info", text: `The invitation for ${revoked.email} was revoked.` });
            await list.reload();
          }}
          onClose={() => setRevoked(null)}
        >
          <p>
            The link that was sent to <strong>{revoked.email}</strong> stops working.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

const createColumns = (onRevoke: (invitation: Invitation) => void): Column<Invitation>[] => [
  {
    title: "Email",
    width: "minmax(0, 2fr)",
    cell: ({ email }) => (
      <span class="name-cell">
        <span class="truncate" title={email}>
          <EmailAddress address={email} />
        </span>
      </span>
    ),
  },
  { title: "Role", cell: ({ role }) => toRoleName(role) },
  { title: "Expires", cell: ({ expires_at: time }) => formatDay(time) },
  { title: "Sent", cell: ({ created_at: time }) => <RelativeTime iso={time} /> },
  createActionsColumn("6rem", (invitation) => (
    <Button aria-label={`Revoke the invitation for ${invitation.email}`} onClick={() => onRevoke(invitation)}>
      Revoke
    </Button>
  )),
];

type DeleteSectionProps = { value: Schemas["WorkspaceDetail"]; onDeleted(): Promise<void> };

/** Deletes a workspace after a warning about the losses. */
function DeleteSection({ value, onDeleted }: DeleteSectionProps) {
  const others = value.member_count - 1;
  return (
    <Section title="Delete this workspace" hint="Everything in it is permanently deleted, for all members.">
      <div class="toolbar">
        <ConfirmButton
          button={{ look: "danger", icon: "trash", children: "Delete workspace…" }}
          title="Delete this workspace?"
          confirmLabel="Delete workspace"
          onConfirm={async () => {
            const path = { workspace_id: value.id };
            leftWorkspaces.add(value.id);
            await must(api.DELETE("/api/v1/workspaces/{workspace_id}", { params: { path } })).catch(
              (error: unknown) => {
                leftWorkspaces.delete(value.id);
                throw error;
              },
            );
            await onDeleted();
          }}
        >
          <div class="losses">
            <p>
              <strong dir="auto">{value.name}</strong> is deleted immediately, from the server's disk too, with
            </p>
            <ul>
              <li>
                {formatCount(value.project_count, "project")} with {formatCount(value.asset_count, "recording")} and{" "}
                {formatCount(value.render_count, "render")}: {formatBytes(value.storage_used_bytes)}
              </li>
              {isBilled.value && (
                <li>{formatCount(Math.max(0, value.credits_balance + value.credits_held), "credit")}, not refunded</li>
              )}
              <li>its API keys, webhooks and open invitations</li>
              {others > 0 && <li>the access of {formatCount(others, "other member")}</li>}
            </ul>
            <p>Running jobs are cancelled. This cannot be undone.</p>
          </div>
        </ConfirmButton>
      </div>
    </Section>
  );
}
