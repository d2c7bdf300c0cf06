import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { ApiError, api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { loadSession } from "../../app/load-session";
import { chooseWorkspace, toWorkspaceName, workspace } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Page } from "../../ui/page";
import { ErrorPanel, ListSkeleton } from "../../ui/states";
import NotFoundPage from "../not-found";
import { DeleteSection } from "./delete-section";
import { InvitationsSection } from "./invitations-section";
import { MembersSection } from "./members-section";
import { NameDialog } from "./name-dialog";
import { UsageSection } from "./usage-section";

type WorkspaceDetail = Schemas["WorkspaceDetail"];

/** Shows a workspace: its usage, its members, and the settings for its owners. */
export default function WorkspacePage() {
  const workspaceId = useRoute().params.workspaceId ?? "";
  const params = { path: { workspace_id: workspaceId } };
  const detail = useRead(["workspace", workspaceId], (signal) =>
    must(api.GET("/api/v1/workspaces/{workspace_id}", { params, signal })),
  );
  const state = detail.state.value;
  if (state.kind === "loading") return <ListSkeleton />;
  if (state.kind === "failed") {
    const isMissing = state.error instanceof ApiError && (state.error.status === 404 || state.error.status === 422);
    return isMissing ? <NotFoundPage /> : <ErrorPanel message={state.message} onRetry={() => void detail.reload()} />;
  }
  return <Shown key={workspaceId} value={state.value} onChange={() => void detail.reload()} />;
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
      actions={
        <>
          {isOwner && !isPersonal && <Button onClick={() => setIsRenaming(true)}>Rename</Button>}
          <Button look="primary" icon="projects" onClick={enter}>
            {workspace.value?.id === id ? "Open projects" : "Switch to this workspace"}
          </Button>
        </>
      }
    >
      <p>
        <a href="/workspaces">All workspaces</a>
      </p>
      <div class="workspace">
        <UsageSection value={value} />
        <MembersSection
          value={value}
          onChange={() => {
            onChange();
            setInvitations(invitations + 1);
          }}
          onLeft={() => leave(`You have left ${value.name}.`)}
        />
        {isOwner && !isPersonal && <InvitationsSection key={invitations} workspaceId={id} />}
        {isOwner && !isPersonal && (
          <DeleteSection value={value} onDeleted={() => leave(`${value.name} and everything in it was deleted.`)} />
        )}
      </div>
      {isRenaming && (
        <NameDialog
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
