/** Problems of the server that administrators are notified of. */
import type { Schemas } from "../../app/api";
import { formatCount } from "../../app/format";
import { PROBLEM_PAGES } from "../../app/notification-texts";
import { Icon } from "../../ui/icon";
import { RelativeTime } from "../../ui/time";
import { useHealth } from "./admin-frame";

type ProblemItem = Schemas["SystemHealth"]["problems"][number];

const HEALTH_PATH = "/admin/health";

/** Lists current problems, with a link to the page that helps. */
export const ProblemList = ({ problems }: { problems: ProblemItem[] }) => (
  <ul class="problems" aria-label="Problems">
    {problems.map((problem) => (
      <li key={problem.problem} class={`message ${problem.severity === "critical" ? "bad" : "warning"}`}>
        <Icon name="warning" />
        <div class="problem-text" dir="auto">
          <strong>{problem.title}</strong>
          <p>{problem.detail}</p>
          <p class="soft">
            Found <RelativeTime iso={problem.found_at} />
          </p>
        </div>
        <ProblemLink problem={problem} />
      </li>
    ))}
  </ul>
);

const LINK_TEXTS: Record<string, string> = {
  "/admin/backups": "Backups",
  "/admin/storage": "Storage",
  "/admin/workers": "Workers",
};

/** Without a link when the list is on the page that helps. */
function ProblemLink({ problem: { problem } }: { problem: ProblemItem }) {
  const href = PROBLEM_PAGES[problem];
  if (href === undefined || href === HEALTH_PATH) return null;
  return (
    <span class="message-actions">
      <a href={href}>{LINK_TEXTS[href] ?? "Open"}</a>
    </span>
  );
}

/** Reports problems on the first administration page. */
export function ProblemBanner() {
  const health = useHealth();
  const state = health.state.value;
  const problems = state.kind === "ready" ? state.value.problems : [];
  const [first] = problems;
  if (first === undefined) return null;
  const isCritical = problems.some(({ severity }) => severity === "critical");
  return (
    <p class={isCritical ? "message bad" : "message warning"} role="status">
      <Icon name="warning" />
      <span>
        {problems.length === 1 ? `${first.title}. ` : `${formatCount(problems.length, "problem")} on this server. `}
        <a href={HEALTH_PATH}>See details</a>
      </span>
    </p>
  );
}
