import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { loadSession } from "../../app/load-session";
import { isBilled, toWorkspaceName, type Workspace, workspace } from "../../app/session";
import { Button } from "../../ui/button";
import { type Column, DataTable } from "../../ui/data-table";
import { Page } from "../../ui/page";
import { Empty } from "../../ui/states";
import { NameDialog } from "./name-dialog";
import { ReceivedSection } from "./received-section";
import { toRoleName } from "./roles";

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
          rowKey={({ id }) => id}
          empty={<Empty title="No workspaces" icon="workspaces" />}
        />
      </div>
      {isAlone && (
        <Empty title="Work with others" icon="workspaces">
          <p>Create a workspace for your studio, and add the people who share its projects.</p>
          <Button icon="plus" onClick={() => setIsCreating(true)}>
            Create a workspace
          </Button>
        </Empty>
      )}
      {isCreating && (
        <NameDialog
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
