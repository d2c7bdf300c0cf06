import { useMemo, useState } from "preact/hooks";
import { api } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { formatBytes, formatElapsed } from "../../../app/format";
import { showFailure, showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { type Column, DataTable } from "../../../ui/data-table";
import { RelativeTime } from "../../../ui/relative-time";
import { Empty } from "../../../ui/states";
import { JobStatus } from "../../../ui/status";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { BackupSummary, BackupsHint } from "./backup-summary";
import { type BackupList, type BackupRun, formatFigures, KIND_NAMES } from "./backup-texts";

/** The page for backups and the proof that they can be restored. */
export default function BackupsPage() {
  const list = useOffsetList<BackupRun, BackupList>(
    ["admin-backups"],
    (page, signal) => mustAdmin(api.GET("/api/v1/admin/backups", { params: { query: page }, signal })),
    { refreshMs: ({ first }) => (first.running ? 1_000 : 4_000) },
  );
  const backups = list.first.value;
  const columns = useMemo(() => listColumns(list.reload), [list]);
  const isConfigured = backups !== null && backups.settings.backup_to !== null;
  return (
    <AdminFrame
      title="Backups"
      actions={isConfigured && <StartButtons isRunning={backups.running !== null} onStarted={list.reload} />}
    >
      {backups !== null && !isConfigured && <BackupsHint />}
      {backups !== null && (isConfigured || backups.total > 0) && <BackupSummary backups={backups} />}
      <DataTable
        caption="Backups, verifications and drills"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          isConfigured && (
            <Empty title="No backup has been made" icon="jobs">
              <p>The first one is made tonight, or now if you like.</p>
            </Empty>
          )
        }
      />
    </AdminFrame>
  );
}

type StartButtonsProps = { isRunning: boolean; onStarted(): Promise<void> };

function StartButtons({ isRunning, onStarted }: StartButtonsProps) {
  const [isBusy, setIsBusy] = useState(false);
  const start = async (call: Promise<BackupRun>, text: string) => {
    setIsBusy(true);
    try {
      await call;
      showToast({ kind: "info", text });
    } catch (error) {
      showFailure(error);
    }
    await onStarted();
    setIsBusy(false);
  };
  return (
    <div class="toolbar">
      <Button
        disabled={isRunning || isBusy}
        onClick={() => void start(mustAdmin(api.POST("/api/v1/admin/backups/drill")), "The drill has started.")}
      >
        Run a drill
      </Button>
      <Button
        look="primary"
        disabled={isRunning || isBusy}
        onClick={() => void start(mustAdmin(api.POST("/api/v1/admin/backups")), "The backup has started.")}
      >
        Back up now
      </Button>
    </div>
  );
}

const listColumns = (onStarted: () => Promise<void>): Column<BackupRun>[] => [
  { title: "Run", width: "minmax(0, 3fr)", cell: (run) => <RunCell run={run} /> },
  { title: "State", width: "7rem", cell: ({ state }) => <JobStatus state={state} /> },
  { title: "Started", width: "8rem", cell: ({ started_at }) => <RelativeTime iso={started_at} /> },
  { title: "Time", width: "6rem", isNumber: true, cell: formatTimeTaken },
  { title: "Size", width: "6rem", isNumber: true, cell: ({ bytes }) => (bytes === null ? "–" : formatBytes(bytes)) },
  {
    title: "Actions",
    width: "5.5rem",
    isTitleHidden: true,
    cell: (run) => <VerifyButton run={run} onStarted={onStarted} />,
  },
];

function RunCell({ run }: { run: BackupRun }) {
  const figures = run.error === null ? formatFigures(run) : "";
  return (
    <div class="two-lines">
      <span>{KIND_NAMES[run.kind]}</span>
      <span class="soft truncate" title={run.path}>
        {run.name ?? run.path}
      </span>
      {figures !== "" && <span class="soft">{figures}</span>}
      {run.error !== null && <span class="failure run-error">{run.error}</span>}
    </div>
  );
}

const formatTimeTaken = ({ started_at, ended_at }: BackupRun): string =>
  ended_at === null ? "–" : formatElapsed(started_at, ended_at);

type VerifyButtonProps = { run: BackupRun; onStarted(): Promise<void> };

/** Verifies a backup against its manifest. Shown only for a complete backup that still exists. */
function VerifyButton({ run, onStarted }: VerifyButtonProps) {
  const [isBusy, setIsBusy] = useState(false);
  if (run.kind !== "backup" || run.state !== "completed" || !run.is_available) return null;
  const verify = async () => {
    setIsBusy(true);
    try {
      const params = { path: { run_id: run.id } };
      await mustAdmin(api.POST("/api/v1/admin/backups/{run_id}/verify", { params }));
      showToast({ kind: "info", text: "Verifying every file of the backup." });
    } catch (error) {
      showFailure(error);
    }
    await onStarted();
    setIsBusy(false);
  };
  return (
    <Button isBusy={isBusy} aria-label={`Verify ${run.name}`} onClick={() => void verify()}>
      Verify
    </Button>
  );
}
