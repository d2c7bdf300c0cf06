import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { MAX_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { formatDay } from "../../app/format";
import { loadSession } from "../../app/load-session";
import { chooseWorkspace, isBilled, toWorkspaceName, type Workspace, workspace } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { SETTINGS } from "../../shell/navigation";
import { Button } from "../../ui/button";
import { type Column, DataTable } from "../../ui/data-table";
import { NameDialog } from "../../ui/form-dialog";
import { Page } from "../../ui/page";
import { Section } from "../../ui/section";
import { Empty } from "../../ui/states";
import { toRoleName, withArticle } from "./roles";

/** The user's workspaces. */
export default function WorkspacesPage() {
  const { route } = useLocation();
  const [isCreating, setIsCreating] = useState(false);
  const list = useOffsetList<Workspace>(
    ["workspaces"],
    (query, signal) => must(api.GET("/api/v1/workspaces", { params: { query }, signal })),
    { refreshMs: 60_000 },
  );
  const isAlone = list.items.value?.length === 1;
  return (
    <Page
      title="Workspaces"
      crumb={SETTINGS}
      actions={
        <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
          New workspace
        </Button>
      }
    >
      <p class="soft">
        A workspace has its own members, projects{isBilled.value && ", credits"} and storage. Only you have access to
        your personal one.
      </p>
      <ReceivedSection />
      <div class="workspace-list">
        <DataTable
          caption="Workspaces"
          columns={COLUMNS}
          list={list}
          empty={<Empty title="No workspaces" icon="workspaces" />}
        />
      </div>
      {isAlone && (
        <Empty title="Work with others" icon="workspaces">
          <p>Create a workspace for your studio, and invite the people who share its projects.</p>
          <Button icon="plus" onClick={() => setIsCreating(true)}>
            Create a workspace
          </Button>
        </Empty>
      )}
      {isCreating && (
        <NameDialog
          maxLength={MAX_NAME_CHARACTERS}
          title="New workspace"
          submitLabel="Create"
          hint={`You become its owner.${isBilled.value ? " Your personal credits stay in your personal workspace." : ""}`}
          onSend={async (name) => {
            const created = await must(api.POST("/api/v1/workspaces", { body: { name } }));
            await loadSession();
            route(`/workspaces/${created.id}`);
          }}
          onClose={() => setIsCreating(false)}
        />
      )}
    </Page>
  );
}

const COLUMNS: Column<Workspace>[] = [
  {
    title: "Name",
    width: "minmax(0, 3fr)",
    cell: (one) => (
      <span class="name-cell">
        <a class="truncate" href={`/workspaces/${one.id}`} title={one.name} dir="auto">
          {toWorkspaceName(one)}
        </a>
        {one.id === workspace.value?.id && <span class="status good">In use</span>}
      </span>
    ),
  },
  { title: "Your role", cell: ({ role }) => toRoleName(role) },
];

type Received = Schemas["ReceivedInvitation"];

/** Invitations that the user has received. Renders nothing without any. */
function ReceivedSection() {
  const { route } = useLocation();
  const list = useOffsetList<Received>(["received-invitations"], (query, signal) =>
    must(api.GET("/api/v1/invitations", { params: { query }, signal })),
  );
  const items = list.items.value ?? [];
  if (items.length === 0) return null;
  const accept = async ({ id, workspace }: Received) => {
    const params = { path: { invitation_id: id } };
    await must(api.POST("/api/v1/invitations/{invitation_id}/accept", { params }));
    await loadSession();
    chooseWorkspace(workspace.id);
    route("/projects");
  };
  const decline = async ({ id, workspace }: Received) => {
    const params = { path: { invitation_id: id } };
    await must(api.POST("/api/v1/invitations/{invitation_id}/decline", { params }));
    showToast({ kind: "info", text: `You declined the invitation to ${workspace.name}.` });
    await list.reload();
  };
  return (
    <Section title="Invitations to you" hint="You become a member when you accept.">
      <ul class="plain-list received-invitations">
        {items.map((invitation) => {
          const { id, workspace, role, invited_by: inviter, expires_at: time } = invitation;
          return (
            <li key={id} class="received-invitation">
              <p>
                <strong dir="auto">{inviter ? (inviter.name ?? inviter.email) : "A former member"}</strong> invites you
                to <strong dir="auto">{workspace.name}</strong> as {withArticle(role)}.{" "}
                <span class="soft">Until {formatDay(time)}</span>
              </p>
              <div class="toolbar">
                <Button
                  look="primary"
                  aria-label={`Accept the invitation to ${workspace.name}`}
                  onClick={() => void accept(invitation).catch(showFailure)}
                >
                  Accept
                </Button>
                <Button
                  aria-label={`Decline the invitation to ${workspace.name}`}
                  onClick={() => void decline(invitation).catch(showFailure)}
                >
                  Decline
                </Button>
              </div>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
