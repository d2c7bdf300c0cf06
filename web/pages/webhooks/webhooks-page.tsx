import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../../app/api";
import { useList } from "../../app/cache";
import { canWrite, workspace } from "../../app/session";
import { SETTINGS } from "../../shell/navigation";
import { Button } from "../../ui/button";
import { type Column, DataTable } from "../../ui/data-table";
import { Page } from "../../ui/page";
import { Empty } from "../../ui/states";
import { Status } from "../../ui/status";
import { RelativeTime } from "../../ui/time";
import { NewEndpointDialog, SecretDialog } from "./endpoint-dialog";
import { VerifySection } from "./verify-section";
import { type Endpoint, formatEvents, type NewEndpoint, toEndpointLook } from "./webhook-texts";

/** A workspace has at most 50 endpoints, so one page is enough. */
const PAGE_SIZE = 100;

const COLUMNS: Column<Endpoint>[] = [
  {
    title: "URL",
    width: "minmax(0, 2fr)",
    cell: ({ id, url }) => (
      <a class="truncate endpoint-link" href={`/webhooks/${id}`} title={url} dir="ltr">
        {url}
      </a>
    ),
  },
  {
    title: "Events",
    width: "minmax(0, 1.5fr)",
    cell: ({ event_types: types }) => (
      <span class="truncate" title={types.join(", ")}>
        {formatEvents(types)}
      </span>
    ),
  },
  { title: "State", width: "7rem", cell: (endpoint) => <Status {...toEndpointLook(endpoint)} /> },
  {
    title: "Last success",
    width: "9rem",
    cell: ({ last_success_at: at }) => (at === null ? "None yet" : <RelativeTime iso={at} />),
  },
];

/** The webhook endpoints of the workspace. */
export default function WebhooksPage() {
  const { route } = useLocation();
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<NewEndpoint | null>(null);
  const list = useList<Endpoint>(
    ["endpoints", workspace.value?.id],
    (cursor, signal) => {
      const query = { limit: PAGE_SIZE, cursor: cursor ?? undefined };
      return must(api.GET("/api/v1/webhook-endpoints", { params: { query }, signal }));
    },
    { refreshMs: 15_000 },
  );
  const createButton = canWrite.value && (
    <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
      New endpoint
    </Button>
  );
  return (
    <Page title="Webhooks" crumb={SETTINGS} actions={createButton}>
      <p class="soft">
        An endpoint is a URL on your own server. Offcut calls it when a recording, a cut or a render in this workspace
        is ready or has failed, so you do not have to poll.
      </p>
      <DataTable
        caption="Webhook endpoints"
        columns={COLUMNS}
        list={list}
        empty={
          <Empty title="No endpoints" icon="webhook">
            <p>
              {canWrite.value
                ? "Create one for each receiver. Each has its own signing secret."
                : "An owner or editor of the workspace can create one."}
            </p>
            {canWrite.value && (
              <Button icon="plus" onClick={() => setIsCreating(true)}>
                Create an endpoint
              </Button>
            )}
          </Empty>
        }
      />
      <VerifySection />
      {isCreating && (
        <NewEndpointDialog
          onCreated={(endpoint) => {
            setIsCreating(false);
            setCreated(endpoint);
          }}
          onClose={() => setIsCreating(false)}
        />
      )}
      {created && (
        <SecretDialog
          title="Endpoint created"
          secret={created.secret ?? ""}
          onClose={() => route(`/webhooks/${created.id}`)}
        />
      )}
    </Page>
  );
}
