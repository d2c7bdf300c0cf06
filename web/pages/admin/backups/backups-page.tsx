import { useMemo } from "preact/hooks";
import { DAY_MS } from "../../../../src/domain/time";
import { api, type Schemas } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { toClock, toNumber } from "../../../app/english";
import { formatBytes, formatCount, formatElapsed, formatTime } from "../../../app/format";
import { showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { CodeBlock } from "../../../ui/copy-field";
import { type Column, createActionsColumn, DataTable } from "../../../ui/data-table";
import { Facts, Section } from "../../../ui/section";
import { Empty, Message } from "../../../ui/states";
import { JobStatus } from "../../../ui/status";
import { RelativeTime } from "../../../ui/time";
import { BusyButton, useBusy } from "../../../ui/use-busy";
import { AdminFrame, mustAdmin } from "../admin-frame";

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
  const hasRuns = isConfigured && backups.total > 0;
  return (
    <AdminFrame
      title="Backups"
      actions={hasRuns && <StartButtons isRunning={backups.running !== null} onStarted={list.reload} />}
    >
      {backups !== null && !isConfigured && <BackupsHint />}
      {backups !== null && (isConfigured || backups.total > 0) && <BackupSummary backups={backups} />}
      <DataTable
        caption="Backups, verifications and restore drills"
        columns={columns}
        list={list}
        empty={
          isConfigured && (
            <Empty title="No backups yet" icon="jobs">
              <p>The first backup runs tonight.</p>
              <StartButtons isRunning={backups.running !== null} hasDrill={false} onStarted={list.reload} />
            </Empty>
          )
        }
      />
    </AdminFrame>
  );
}

/** `hasDrill`: whether there are backups from which a drill can restore. */
type StartButtonsProps = { isRunning: boolean; hasDrill?: boolean; onStarted(): Promise<void> };

function StartButtons({ isRunning, hasDrill = true, onStarted }: StartButtonsProps) {
  const { isBusy, run } = useBusy();
  const start = (call: Promise<BackupRun>, text: string) =>
    run(async () => {
      await call.finally(onStarted);
      showToast({ kind: "info", text });
    });
  return (
    <div class="toolbar">
      {hasDrill && (
        <Button
          disabled={isRunning || isBusy}
          onClick={() =>
            void start(mustAdmin(api.POST("/api/v1/admin/backups/drill")), "The restore drill has started.")
          }
        >
          Run a restore drill
        </Button>
      )}
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
  createActionsColumn("5.5rem", (run) => <VerifyButton run={run} onStarted={onStarted} />),
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
  if (run.kind !== "backup" || run.state !== "completed" || !run.is_available) return null;
  const verify = async () => {
    const params = { path: { run_id: run.id } };
    await mustAdmin(api.POST("/api/v1/admin/backups/{run_id}/verify", { params })).finally(onStarted);
    showToast({ kind: "info", text: "Verifying every file of the backup." });
  };
  return (
    <BusyButton work={verify} aria-label={`Verify ${run.name}`}>
      Verify
    </BusyButton>
  );
}

const SETTINGS = `# /etc/offcut/offcut.toml
backup_to = "/backup"
backup_at = "02:00"`;

/** Explains how to enable backups. */
const BackupsHint = () => (
  <Section
    title="No backups yet"
    hint="Set backup_to to a folder, ideally on another disk, and restart Offcut. It then backs up every night."
  >
    <CodeBlock label="Settings" code={SETTINGS} />
    <p class="soft">
      A backup contains the database, recordings, renders and secrets. Keep it as safe as the server itself.
    </p>
  </Section>
);

/**
 * Summarizes whether the data is safe: the last proven restore, the last error, the current run, and the next backup.
 */
function BackupSummary({ backups }: { backups: BackupList }) {
  const { running, last_failure: failure, last_proven_restore: proof } = backups;
  const now = Date.now();
  return (
    <>
      {running !== null && <Message role="status">{RUNNING_TEXTS[running.kind]}</Message>}
      {failure !== null && (
        <Message look="bad">
          <p>
            <strong>
              {FAILURE_TEXTS[failure.kind]}, {formatWhen(failure.started_at, now)}.
            </strong>{" "}
            <span class="run-error">{failure.error}</span>
          </p>
        </Message>
      )}
      <Message look={proof === null ? "warning" : "good"}>
        {proof === null
          ? "No restore has been proven yet. Run a restore drill to check that your backups work."
          : `Last proven restore: ${formatProof(proof, now)}`}
      </Message>
      <section class="card backup-facts" aria-label="Schedule">
        <Facts facts={listFacts(backups, now)} />
      </section>
    </>
  );
}

function listFacts({ last_backup: last, settings }: BackupList, now: number): [string, string][] {
  const { backup_to, next_at, backup_keep_daily: days, backup_keep_weekly: weeks } = settings;
  const size = last?.bytes == null ? "" : `, ${formatBytes(last.bytes)}`;
  const kept = `Daily for ${formatCount(days, "day")}${weeks > 0 ? `, weekly for ${formatCount(weeks, "week")}` : ""}`;
  const when = (iso: string) => toSentenceCase(formatWhen(iso, now));
  return [
    ["Last backup", last === null ? "None" : `${when(last.started_at)}${size}`],
    ["Next backup", next_at === null ? "Not scheduled" : when(next_at)],
    ["Folder", backup_to ?? "None"],
    ["Kept", kept],
  ];
}

const toSentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

type BackupRun = Schemas["BackupRun"];
type BackupList = Schemas["BackupList"];

const KIND_NAMES: Record<BackupRun["kind"], string> = {
  backup: "Backup",
  verify: "Verification",
  drill: "Restore drill",
};

const RUNNING_TEXTS: Record<BackupRun["kind"], string> = {
  backup: "A backup is being written.",
  verify: "A backup is being verified.",
  drill: "A restore drill is running: the newest backup is restored and checked.",
};

const FAILURE_TEXTS: Record<BackupRun["kind"], string> = {
  backup: "The last backup failed",
  verify: "The last verification found a problem",
  drill: "The last restore drill failed",
};

/** Returns "today 02:14", "yesterday 02:14", or the day and the time. `now` in milliseconds since 1970. */
function formatWhen(iso: string, now: number): string {
  const time = new Date(iso);
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const days = Math.round((new Date(time).setHours(0, 0, 0, 0) - midnight) / DAY_MS);
  const name = { "-1": "yesterday", 0: "today", 1: "tomorrow" }[days];
  return name === undefined ? formatTime(time) : `${name} ${toClock(time)}`;
}

/** Returns a text such as "today 02:14, 41 s, 3,912 files" for a completed drill. */
function formatProof({ started_at, ended_at, files }: BackupRun, now: number): string {
  const parts = [formatWhen(started_at, now)];
  if (ended_at !== null) parts.push(formatElapsed(started_at, ended_at));
  if (files !== null) parts.push(formatCount(files, "file"));
  return parts.join(", ");
}

/**
 * Returns the results of a run, such as "3,912 files read, 12 balances and 240 frames compared". Empty while they are
 * unknown.
 */
function formatFigures(run: BackupRun): string {
  if (run.files === null) return "";
  if (run.kind === "backup") {
    const copied = (run.copied_bytes ?? 0) === 0 ? "" : `, ${formatBytes(run.copied_bytes!)} of media copied`;
    return formatCount(run.files, "file") + copied;
  }
  const read = run.checked_files === run.files ? formatCount(run.files, "file") : formatPart(run);
  if (run.kind === "verify") return `${read} read`;
  const compared = [formatCount(run.balances ?? 0, "balance")];
  if (run.render_frames !== null) compared.push(formatCount(run.render_frames, "frame"));
  return `${read} read, ${compared.join(" and ")} compared`;
}

const formatPart = ({ checked_files, files }: BackupRun): string =>
  `${toNumber(checked_files ?? 0)} of ${formatCount(files ?? 0, "file")}`;
