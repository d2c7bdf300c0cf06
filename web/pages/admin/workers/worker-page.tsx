import { useRoute } from "preact-iso";
import { api } from "../../../app/api";
import { useRead } from "../../../app/cache";
import { formatBytes, formatDuration, formatElapsed } from "../../../app/format";
import { showToast } from "../../../app/toasts";
import { ConfirmButton } from "../../../ui/dialog";
import { NotFoundPage } from "../../../ui/page";
import { type Fact, Facts, Section } from "../../../ui/section";
import { Message, ResourceView } from "../../../ui/states";
import { RelativeTime } from "../../../ui/time";
import { BusyButton } from "../../../ui/use-busy";
import { AdminFrame, mustAdmin } from "../admin-frame";
import {
  type AdminWorkerDetail,
  CurrentRuns,
  describeRunning,
  formatJobs,
  formatSandbox,
  formatSpeed,
  KIND_NAMES,
  OutcomeStatus,
  WorkerStatus,
} from "./worker-texts";

/** Shows a worker with its state, its current and past work, and the actions for it. */
export default function WorkerPage() {
  const workerId = useRoute().params.workerId ?? "";
  const params = { path: { worker_id: workerId } };
  const loaded = useRead(
    ["admin-worker", workerId],
    (signal) => mustAdmin(api.GET("/api/v1/admin/workers/{worker_id}", { params, signal })),
    { refreshMs: 4_000 },
  );
  return (
    <ResourceView
      resource={loaded}
      notFound={<NotFoundPage />}
      frame={(content) => (
        <AdminFrame title="Worker" parent="/admin/workers">
          {content}
        </AdminFrame>
      )}
    >
      {(worker) => <WorkerDetails worker={worker} onChanged={loaded.reload} />}
    </ResourceView>
  );
}

function WorkerDetails({ worker, onChanged }: { worker: AdminWorkerDetail; onChanged(): Promise<void> }) {
  return (
    <AdminFrame title={worker.name} parent="/admin/workers" actions={<WorkerStatus worker={worker} />}>
      {worker.revoked_at !== null && (
        <Message look="warning" role="status">
          <span>
            Revoked <RelativeTime iso={worker.revoked_at} />. Its history is kept for 30 days.
          </span>
        </Message>
      )}
      <div class="admin-columns">
        <div>
          <Section title="Running now">
            <CurrentRuns worker={worker} />
          </Section>
          <History worker={worker} />
        </div>
        <div>
          <Section title="Machine" actions={<a href={`/admin/audit?target_id=${worker.id}`}>Changes</a>}>
            <Facts facts={listFacts(worker)} />
          </Section>
          {worker.revoked_at === null && <WorkerActions worker={worker} onChanged={onChanged} />}
        </div>
      </div>
    </AdminFrame>
  );
}

const History = ({ worker: { runs } }: { worker: AdminWorkerDetail }) => (
  <Section title="History" hint={runs.length === 0 ? "Finished work appears here." : undefined}>
    {runs.length > 0 && (
      <ul class="plain-list">
        {runs.map((run) => (
          <li key={run.id} class="activity">
            <span>
              {KIND_NAMES[run.kind]}{" "}
              <span class="soft">
                {run.media_seconds !== null && `${formatDuration(run.media_seconds)} of media in `}
                {formatElapsed(run.started_at, run.ended_at)}
              </span>
            </span>
            <OutcomeStatus outcome={run.outcome} />
            <span class="soft">
              <RelativeTime iso={run.ended_at} />
            </span>
          </li>
        ))}
      </ul>
    )}
  </Section>
);

function listFacts(worker: AdminWorkerDetail): Fact[] {
  return [
    ["Jobs", formatJobs(worker)],
    ["Jobs at a time", String(worker.slots)],
    ["Speed", formatSpeed(worker.speed)],
    ["Last seen", <RelativeTime key="seen" iso={worker.last_seen_at} />],
    ["Version", `${worker.version}, protocol ${worker.protocol}`],
    ["ffmpeg", worker.ffmpeg],
    ["Encoder", worker.encoder],
    ["Sandbox", formatSandbox(worker)],
    ["Speech models", worker.languages.join(", ") || "None"],
    ["Free space", formatBytes(worker.free_bytes)],
    ["Joined", <RelativeTime key="joined" iso={worker.created_at} />],
    ["Worker ID", worker.id],
  ];
}

type WorkerActionsProps = { worker: AdminWorkerDetail; onChanged(): Promise<void> };

/** Drains, resumes and revokes a worker. */
function WorkerActions({ worker, onChanged }: WorkerActionsProps) {
  const params = { path: { worker_id: worker.id } };
  const resume = () => mustAdmin(api.POST("/api/v1/admin/workers/{worker_id}/resume", { params })).finally(onChanged);
  const drain = () => mustAdmin(api.POST("/api/v1/admin/workers/{worker_id}/drain", { params })).finally(onChanged);
  const revoke = async () => {
    await mustAdmin(api.POST("/api/v1/admin/workers/{worker_id}/revoke", { params }));
    showToast({ kind: "info", text: `${worker.name} was revoked.` });
    await onChanged();
  };
  return (
    <Section title="Actions">
      <div class="setting">
        <p>
          <strong>{worker.is_draining ? "Drained" : "Accepts work"}</strong>
          <span class="soft">
            {worker.is_draining
              ? "Finishes its current work and accepts nothing new, even after a restart."
              : "Drain it before maintenance: it finishes its current work and accepts nothing new."}
          </span>
        </p>
        <BusyButton work={worker.is_draining ? resume : drain}>{worker.is_draining ? "Resume" : "Drain"}</BusyButton>
      </div>
      <div class="setting">
        <p>
          <strong>Join token</strong>
          <span class="soft">Revoke it if you give the machine away or the token leaks.</span>
        </p>
        <ConfirmButton
          button={{ look: "danger", children: "Revoke" }}
          title="Revoke this worker?"
          confirmLabel="Revoke worker"
          onConfirm={revoke}
        >
          <p>
            <strong>{worker.name}</strong> stops immediately and cannot connect again. {describeRunning(worker)}{" "}
            Finished chunks of renders are kept. This cannot be undone: to join again, the machine needs a new token.
          </p>
        </ConfirmButton>
      </div>
    </Section>
  );
}
