import { useState } from "preact/hooks";
import { api, type Schemas } from "../../../app/api";
import { type Resource, useOffsetList, useRead } from "../../../app/cache";
import { formatCount } from "../../../app/format";
import { showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { CodeBlock, CopyField, ShownOnceDialog } from "../../../ui/copy-field";
import { type Column, DataTable } from "../../../ui/data-table";
import { ConfirmButton } from "../../../ui/dialog";
import { FilterBar } from "../../../ui/filter-bar";
import { Field } from "../../../ui/form";
import { FormDialog } from "../../../ui/form-dialog";
import { Section } from "../../../ui/section";
import { Empty, ResourceView } from "../../../ui/states";
import { RelativeTime } from "../../../ui/time";
import { AdminFrame, mustAdmin, useHealth } from "../admin-frame";
import { type AdminWorker, CurrentRuns, formatJobs, formatSpeed, WorkerStatus } from "./worker-texts";

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
        empty={
          <Empty title="No worker has joined" icon="jobs">
            <p>Another machine joins with a token. It then prepares, cuts and renders for this server.</p>
            <Button icon="plus" onClick={() => setIsAdding(true)}>
              Create a join token
            </Button>
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

type CreatedToken = Schemas["CreatedWorkerToken"];
type NewTokenDialogProps = { onCreated(): void; onClose(): void };

/** Creates a join token and shows how to use it on another machine. */
function NewTokenDialog({ onCreated, onClose }: NewTokenDialogProps) {
  const [created, setCreated] = useState<CreatedToken | null>(null);
  if (created !== null) return <CreatedTokenDialog created={created} onClose={onClose} />;
  return (
    <FormDialog
      title="Add worker"
      submitLabel="Create token"
      onSend={async ({ name = "" }) => {
        setCreated(await mustAdmin(api.POST("/api/v1/admin/worker-tokens", { body: { name: name.trim() } })));
        onCreated();
      }}
      onClose={onClose}
    >
      <Field
        label="Name"
        name="name"
        maxLength={63}
        required
        isFirst
        autocomplete="off"
        hint="The other machine's name, such as edit-suite-2. Use letters, digits, dots, hyphens and underscores."
      />
    </FormDialog>
  );
}

const createCommand = (token: string): string =>
  `OFFCUT_TOKEN=${token} \\\n  offcut worker --head ${location.origin} \\\n  --redis REDIS_URL`;

function CreatedTokenDialog({ created, onClose }: { created: CreatedToken; onClose(): void }) {
  const token = created.token ?? "";
  return (
    <ShownOnceDialog title="Join token created" isWide onClose={onClose}>
      <CopyField
        label="Join token"
        value={token}
        hint={`For ${created.name} only. Copy it now: it is not shown again.`}
        isFirst
      />
      <div class="field">
        <span class="label">On the other machine</span>
        <CodeBlock label="Command for the worker" code={createCommand(token)} />
        <span class="hint">
          Replace REDIS_URL with the redis_url of this server; the other machine must be able to reach its host. To
          install a service instead, run <code>./install.sh --worker --systemd</code> there.
        </span>
      </div>
    </ShownOnceDialog>
  );
}

type Token = Schemas["AdminWorkerToken"];
type WaitingTokensProps = { tokens: Resource<{ items: Token[] }>; onRevoked(): Promise<void> };

/** Tokens that no worker has used yet. */
const WaitingTokens = ({ tokens, onRevoked }: WaitingTokensProps) => (
  <ResourceView resource={tokens} skeleton={null}>
    {({ items }) => {
      const waiting = items.filter((token) => token.worker_id === null);
      if (waiting.length === 0) return null;
      return (
        <Section title="Unused join tokens" hint="No worker has joined with them yet.">
          <ul class="plain-list decisions">
            {waiting.map((token) => (
              <WaitingToken key={token.id} token={token} onRevoked={onRevoked} />
            ))}
          </ul>
        </Section>
      );
    }}
  </ResourceView>
);

function WaitingToken({ token, onRevoked }: { token: Token; onRevoked(): Promise<void> }) {
  const revoke = async () => {
    const params = { path: { token_id: token.id } };
    await mustAdmin(api.DELETE("/api/v1/admin/worker-tokens/{token_id}", { params }));
    showToast({ kind: "info", text: `The token of ${token.name} was revoked.` });
    await onRevoked();
  };
  return (
    <li class="setting">
      <p>
        <strong>{token.name}</strong>
        <span class="soft">
          Created <RelativeTime iso={token.created_at} />
        </span>
      </p>
      <ConfirmButton
        button={{ "aria-label": `Revoke the token of ${token.name}`, children: "Revoke" }}
        title="Revoke this token?"
        confirmLabel="Revoke token"
        onConfirm={revoke}
      >
        <p>
          The token of <strong>{token.name}</strong> stops working. This cannot be undone, but you can create a new
          token with the same name.
        </p>
      </ConfirmButton>
    </li>
  );
}
