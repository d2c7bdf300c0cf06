/** The frame of the administration pages: the heading and the links between them. */
import type { ComponentChildren } from "preact";
import { ApiError, api, must, type Schemas } from "../../app/api";
import { type Resource, useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { readPermissions } from "../../app/load-session";
import { PROBLEM_PAGES } from "../../app/notification-texts";
import { isBilled } from "../../app/session";
import { SETTINGS } from "../../shell/navigation";
import { Truncated } from "../../ui/data-table";
import { EmailAddress } from "../../ui/email-address";
import { Icon } from "../../ui/icon";
import { Page } from "../../ui/page";
import { SubNav } from "../../ui/section";
import { Message } from "../../ui/states";
import { RelativeTime } from "../../ui/time";

const ITEMS = [
  { href: "/admin/users", label: "Users" },
  { href: "/admin/orders", label: "Orders" },
  { href: "/admin/jobs", label: "Jobs" },
  { href: "/admin/workers", label: "Workers" },
  { href: "/admin/storage", label: "Storage" },
  { href: "/admin/backups", label: "Backups" },
  { href: "/admin/health", label: "Health" },
  { href: "/admin/audit", label: "Audit log" },
] as const;

type AdminFrameProps = {
  title: string;
  /** The path of the page to which this one belongs. */
  parent?: (typeof ITEMS)[number]["href"];
  actions?: ComponentChildren;
  children: ComponentChildren;
};

export const AdminFrame = ({ title, parent, actions, children }: AdminFrameProps) => (
  <Page title={title} crumb={ITEMS.find(({ href }) => href === parent) ?? SETTINGS} actions={actions}>
    <SubNav
      label="Administration"
      items={isBilled.value ? ITEMS : ITEMS.filter(({ href }) => href !== "/admin/orders")}
    />
    {children}
  </Page>
);

/**
 * Returns the body of a response. Throws `ApiError`. If the user has lost the administrator role, reloads the
 * permissions, so that "Page not found" replaces the page.
 */
export async function mustAdmin<Data>(answer: Parameters<typeof must<Data>>[0]): Promise<Data> {
  try {
    return await must(answer);
  } catch (error) {
    if (error instanceof ApiError && error.status === 403 && error.code === "forbidden") await readPermissions();
    throw error;
  }
}

/** Reads the health of the server, which every part of a page shares. */
export const useHealth = (): Resource<Schemas["SystemHealth"]> =>
  useRead(["health"], (signal) => mustAdmin(api.GET("/api/v1/admin/health", { signal })), { refreshMs: 10_000 });

export const UserLink = ({ user: { id, email } }: { user: { id: string; email: string } }) => (
  <a class="truncate" href={`/admin/users/${id}`} title={email} dir="auto">
    <EmailAddress address={email} />
  </a>
);

type UserCellProps = {
  /** Null if the account was deleted. */
  user: { id: string; email: string } | null;
  /** Shown unless it is the user's personal workspace. */
  workspace: { id: string; name: string } | null;
};

/** A user with a link to the account, and the shared workspace concerned. */
export const UserCell = ({ user, workspace }: UserCellProps) => (
  <div class="two-lines">
    {user === null ? <span class="soft">Deleted user</span> : <UserLink user={user} />}
    {workspace !== null && workspace.id !== user?.id && <Truncated class="soft" text={workspace.name} />}
  </div>
);

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
    <Message look={isCritical ? "bad" : "warning"} role="status">
      <span>
        {problems.length === 1 ? `${first.title}. ` : `${formatCount(problems.length, "problem")} on this server. `}
        <a href={HEALTH_PATH}>See details</a>
      </span>
    </Message>
  );
}
