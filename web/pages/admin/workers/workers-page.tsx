import { useState } from "preact/hooks";
import { api } from "../../../app/api";
import { useOffsetList, useRead } from "../../../app/cache";
import { formatCount } from "../../../app/format";
import { Button } from "../../../ui/button";
import { CodeBlock } from "../../../ui/code-block";
import { type Column, DataTable } from "../../../ui/data-table";
import { FilterBar } from "../../../ui/filter-bar";
import { RelativeTime } from "../../../ui/relative-time";
import { Section } from "../../../ui/section";
import { Empty } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { useHealth } from "../use-health";
import { CurrentRuns } from "./current-runs";
import { NewTokenDialog } from "./new-token-dialog";
import { WaitingTokens } from "./waiting-tokens";
import { type AdminWorker, formatJobs, formatSpeed, WorkerStatus } from "./worker-texts";

const MAX_TOKENS = 100;

/** Other machines that run jobs for this server. */
export default function WorkersPage() {
  const [isAdding, setIsAdding] = useState(false);
  const list = useOffsetList<AdminWorker>(
    ["admin-workers"],
    (page, signal) => mustAdmin(api.GET("/api/v1/admin/workers", { params: { query: page }, signal })),
    { refreshMs: 4_000 },
  );
  const tokens = useRead(
    ["admin-worker-tokens"],
    (signal) => mustAdmin(api.GET("/api/v1/admin/worker-tokens", { params: { query: { limit: MAX_TOKENS } }, signal })),
    { refreshMs: 4_000 },
  );
  const total = list.first.value?.total ?? null;
  return (
    <AdminFrame
      title="Workers"
      actions={
        <Button icon="plus" look="primary" onClick={() => setIsAdding(true)}>
          Add worker
        </Button>
      }
    >
      <SetupHint />
      <FilterBar>
        <span class="soft">Other machines that prepare, cut and render for this server.</span>
        <span class="spacer" />
        <span class="soft" role="status">
          {total !== null && formatCount(total, "worker")}
        </span>
      </FilterBar>
      <DataTable
        caption="Workers"
        columns={WORKER_COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No worker has joined" icon="jobs">
            <p>Create a join token, and start offcut worker on another machine.</p>
          </Empty>
        }
      />
      <WaitingTokens tokens={tokens} onRevoked={tokens.reload} />
      {isAdding && <NewTokenDialog onCreated={() => void tokens.reload()} onClose={() => setIsAdding(false)} />}
    </AdminFrame>
  );
}

const WORKER_COLUMNS: Column<AdminWorker>[] = [
  { title: "Worker", width: "minmax(0, 2fr)", cell: (worker) => <WorkerCell worker={worker} /> },
  { title: "State", width: "9rem", cell: (worker) => <WorkerStatus worker={worker} /> },
  { title: "Running now", width: "minmax(0, 1.5fr)", cell: (worker) => <CurrentRuns worker={worker} /> },
  { title: "Speed", width: "9rem", cell: ({ speed }) => formatSpeed(speed) },
  { title: "Version", width: "4.5rem", cell: ({ version }) => version },
  { title: "Last seen", width: "7rem", cell: ({ last_seen_at: at }) => <RelativeTime iso={at} /> },
];

function WorkerCell({ worker }: { worker: AdminWorker }) {
  return (
    <div class="two-lines">
      <a class="truncate" href={`/admin/workers/${worker.id}`} title={worker.name}>
        {worker.name}
      </a>
      <span class="soft">
        {worker.slots} at a time: {formatJobs(worker)}
      </span>
    </div>
  );
}

const SETTINGS = `# /etc/offcut/offcut.toml
redis_url = "rediss://user:password@redis.example.com:6379"

# In Redis: never evict waiting jobs
# CONFIG SET maxmemory-policy noeviction`;

/** Explains how to enable workers while Redis is not configured. */
function SetupHint() {
  const health = useHealth();
  const state = health.state.value;
  // Other parts of the page report their own errors.
  if (state.kind !== "ready" || state.value.redis !== null) return null;
  return (
    <Section
      title="Workers are not enabled"
      hint="This machine does all the work. To share it with other machines, configure a Redis server that they can all reach, and restart Offcut."
    >
      <CodeBlock label="Settings" code={SETTINGS} />
      <p class="soft">
        Workers read recordings from this server and send results back to it. Redis carries only IDs and signed links.
      </p>
    </Section>
  );
}
