import type { Schemas } from "../../../app/api";
import { formatCount } from "../../../app/format";
import { STEP_NAMES } from "../../../app/pipelines";
import { isBilled } from "../../../app/session";
import { Button } from "../../../ui/button";
import { Section } from "../../../ui/section";
import { Message, ResourceView } from "../../../ui/states";
import { Status } from "../../../ui/status";
import { AdminFrame, ProblemList, useHealth } from "../admin-frame";

type Health = Schemas["SystemHealth"];
type Check = Health["checks"][number];

/** The health of the server and its dependencies. */
export default function HealthPage() {
  const health = useHealth();
  return (
    <AdminFrame title="Health" actions={<Button onClick={() => void health.reload()}>Check again</Button>}>
      <ResourceView resource={health}>
        {(value) => (
          <>
            <Summary health={value} />
            {value.problems.length > 0 && <ProblemList problems={value.problems} />}
            <ul class="card checks" aria-label="Checks">
              {sortChecks(value.checks.filter(isShown)).map((check) => (
                <CheckRow key={check.name} check={check} />
              ))}
            </ul>
            <Queue health={value} />
            <p class="soft">Offcut {value.version}</p>
          </>
        )}
      </ResourceView>
    </AdminFrame>
  );
}

const LOOKS: Record<Check["state"], { text: string; look: string }> = {
  ok: { text: "OK", look: "good" },
  warning: { text: "Warning", look: "waiting" },
  broken: { text: "Broken", look: "bad" },
};
const CHECK_NAMES: Record<string, string> = {
  database: "Database",
  disk: "Disk",
  queue: "Queue",
  ffmpeg: "ffmpeg",
  encoder: "Encoder",
  sandbox: "Sandbox",
  "installed models": "Speech models",
  mail: "Mail",
  webhooks: "Webhooks",
  backups: "Backups",
  billing: "Billing",
  connection: "Connection",
  redis: "Redis",
  workers: "Workers",
};
const ORDER = ["broken", "warning", "ok"];

/** A server where nothing costs credits does not mention billing. */
const isShown = ({ name }: Check): boolean => isBilled.value || name !== "billing";

/** Problems come first. */
const sortChecks = (checks: Check[]): Check[] =>
  checks.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));

function Summary({ health: { checks, problems, status } }: { health: Health }) {
  const count = (state: Check["state"]) => checks.filter((check) => check.state === state).length;
  const [broken, warnings] = [count("broken"), count("warning") + problems.length];
  const isGood = status === "ok" && warnings === 0;
  return (
    <Message look={isGood ? "good" : status === "ok" ? "warning" : "bad"} role="status">
      {isGood
        ? "Everything works."
        : status === "ok"
          ? `The server is working, with ${formatCount(warnings, "warning")}.`
          : `${broken > 0 ? `${formatCount(broken, "check")} failed` : "The disk is almost full"}. Stored data is safe.`}
    </Message>
  );
}

const CheckRow = ({ check }: { check: Check }) => (
  <li class="check-row">
    <Status {...LOOKS[check.state]} />
    <strong>{CHECK_NAMES[check.name] ?? check.name}</strong>
    <span class="check-about">{check.about}</span>
  </li>
);

/** The number of running and waiting jobs of each kind. */
const Queue = ({ health }: { health: Health }) => (
  <Section title="Queue" actions={<a href="/admin/jobs?state=running">Running jobs</a>}>
    <table class="queue">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col">Running</th>
          <th scope="col">Waiting</th>
          <th scope="col">Limit</th>
        </tr>
      </thead>
      <tbody>
        {health.queue.map(({ name, running, pending, slots }) => (
          <tr key={name}>
            <th scope="row">{STEP_NAMES[name]}</th>
            <td>{running}</td>
            <td>{pending}</td>
            <td>{slots}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <p class="soft">
      {formatCount(health.webhooks.pending_deliveries, "webhook delivery", "webhook deliveries")} waiting.
    </p>
  </Section>
);
