import { formatBytes, formatCount } from "../../../app/format";
import { CodeBlock } from "../../../ui/code-block";
import { Facts } from "../../../ui/facts";
import { Icon } from "../../../ui/icon";
import { Section } from "../../../ui/section";
import { type BackupList, FAILURE_TEXTS, formatProof, formatWhen, RUNNING_TEXTS } from "./backup-texts";

const SETTINGS = `# /etc/offcut/offcut.toml
backup_to = "/backup"
backup_at = "02:00"`;

/** Explains how to enable backups. */
export const BackupsHint = () => (
  <Section
    title="No backups yet"
    hint="Set backup_to to a folder, best on another disk, and restart Offcut. It then backs up every night."
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
export function BackupSummary({ backups }: { backups: BackupList }) {
  const { running, last_failure: failure, last_proven_restore: proof } = backups;
  const now = Date.now();
  return (
    <>
      {running !== null && (
        <p class="message" role="status">
          <Icon name="info" />
          {RUNNING_TEXTS[running.kind]}
        </p>
      )}
      {failure !== null && (
        <div class="message bad">
          <Icon name="warning" />
          <p>
            <strong>
              {FAILURE_TEXTS[failure.kind]}, {formatWhen(failure.started_at, now)}.
            </strong>{" "}
            <span class="run-error">{failure.error}</span>
          </p>
        </div>
      )}
      <p class={proof === null ? "message warning" : "message good"}>
        <Icon name={proof === null ? "warning" : "check"} />
        {proof === null
          ? "No restore has been proven yet. Run a drill to find out whether your backups work."
          : `Last proven restore: ${formatProof(proof, now)}`}
      </p>
      <section class="card backup-facts" aria-label="Schedule">
        <Facts facts={listFacts(backups, now)} />
      </section>
    </>
  );
}

function listFacts({ last_backup: last, settings }: BackupList, now: number): [string, string][] {
  const { backup_to, next_at, backup_keep_daily: days, backup_keep_weekly: weeks } = settings;
  const size = last?.bytes == null ? "" : `, ${formatBytes(last.bytes)}`;
  const kept = `One for each of ${formatCount(days, "day")}${weeks > 0 ? ` and ${formatCount(weeks, "week")}` : ""}`;
  const when = (iso: string) => toSentenceCase(formatWhen(iso, now));
  return [
    ["Last backup", last === null ? "None" : `${when(last.started_at)}${size}`],
    ["Next backup", next_at === null ? "Never: backup_to is not set" : when(next_at)],
    ["Folder", backup_to ?? "None"],
    ["Kept", kept],
  ];
}

const toSentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
