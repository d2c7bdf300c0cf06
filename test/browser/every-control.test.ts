/** A real browser with the keyboard only: Tab reaches every control of every page, and shows where the focus is. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { fullOr } from "../full-size";
import { createAdmin, withPassword } from "../http/accounts";
import { sample, send } from "../http/notification-samples";
import { joinWorker } from "../http/workers";
import { useDashboard } from "./dashboard";
import { insertEndedJobs } from "./job-rows";
import { createStudioAsset } from "./studio";

const { address, browse, expectFailures, server } = useDashboard({ settings: { SIGNUP: "open" } });

const MAX_TABS = 400;
/** Interval of the visited pages of a user, beginning with the first; the asset page is the third. */
const PAGE_STEP = fullOr(1, 2);

/**
 * Runs in the page: lists the controls that Tab must reach. Tab reaches one of the radio buttons with the same name.
 */
function markControls(): number {
  const controls = [...document.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, [tabindex]")];
  const groups = new Set<string>();
  const wanted = controls.filter((element) => {
    if (element.tabIndex < 0 || element.matches(":disabled") || !element.checkVisibility()) return false;
    if (!(element instanceof HTMLInputElement) || element.type !== "radio") return true;
    if (groups.has(element.name)) return false;
    groups.add(element.name);
    return true;
  });
  (window as unknown as { wanted: Set<HTMLElement> }).wanted = new Set(wanted);
  return wanted.length;
}

/** Runs in the page: takes the focused control off the list. Returns its problem, or null. */
function visitFocus(): { left: number; problem: string | null } {
  const { wanted } = window as unknown as { wanted: Set<HTMLElement> };
  const element = document.activeElement as HTMLElement;
  const group = element instanceof HTMLInputElement && element.type === "radio" ? element.name : null;
  for (const one of wanted)
    if (one === element || (group !== null && (one as HTMLInputElement).name === group)) wanted.delete(one);
  // The transcript is longer than its scroller, which shows the focus.
  const { outlineStyle, outlineWidth } = getComputedStyle(element.closest(".transcript-scroller") ?? element);
  // The parts of a date field show the focus themselves.
  const isShown =
    element.matches("body, [type=date]") || (outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0);
  return { left: wanted.size, problem: isShown ? null : `focus not shown: ${element.outerHTML.slice(0, 200)}` };
}

const listLeft = (): string[] =>
  [...(window as unknown as { wanted: Set<HTMLElement> }).wanted]
    .filter((element) => element.isConnected && element.checkVisibility() && !element.matches(":disabled"))
    .map((element) => element.outerHTML.slice(0, 200));

/** Presses Tab until each control had the focus. */
async function visitAll(page: Page): Promise<string[]> {
  const problems = new Set<string>();
  const count = await page.evaluate(markControls);
  expect(count).toBeGreaterThan(0);
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press("Tab");
    const { left, problem } = await page.evaluate(visitFocus);
    if (problem !== null) problems.add(problem);
    if (left === 0) break;
  }
  const path = new URL(page.url()).pathname;
  return [...problems, ...(await page.evaluate(listLeft))].map((text) => `${path} ${text}`);
}

async function visitPages(user: Parameters<typeof browse>[0], paths: readonly string[]): Promise<string[]> {
  const page = await (await browse(user)).newPage();
  const problems: string[] = [];
  for (const path of paths) {
    await page.goto(address(path));
    await page.waitForSelector("main h1");
    await page.waitForFunction(() => document.querySelector(".skeleton, .skeleton-list") === null);
    problems.push(...(await visitAll(page)));
  }
  return problems;
}

test("of the pages without a session", async () => {
  // The invitation is not one.
  expectFailures(404);
  const paths = ["/sign-in", "/sign-up", "/forgot-password", "/reset-password#x", "/invitation#x", "/setup"];
  expect(await visitPages(null, paths)).toEqual([]);
});

test("of the pages of a user", async () => {
  const user = await withPassword(server(), await server().user());
  const { id: projectId } = await user.project();
  const asset = await createStudioAsset(user);
  await send(server(), user, sample("pipeline_failed"));
  const [jobId] = await insertEndedJobs(server(), user, [{ state: "failed" }]);
  const json = { url: "https://93.184.216.34/hook", event_types: ["render.completed"] };
  const endpoint = await user.must<{ id: string }>("POST", "/api/v1/webhook-endpoints", { json });
  const paths = [
    "/projects",
    `/projects/${projectId}`,
    `/assets/${asset.id}`,
    "/jobs",
    `/jobs/${jobId}`,
    "/credits",
    "/credits/history",
    "/credits/orders",
    "/credits/invoices",
    "/keys",
    "/webhooks",
    `/webhooks/${endpoint.id}`,
    "/workspaces",
    `/workspaces/${user.userId}`,
    "/account",
    "/account/security",
    "/account/notifications",
    "/account/data",
    "/notifications",
    "/status",
    "/oauth/device",
  ];
  const visited = paths.filter((_, index) => index % PAGE_STEP === 0);
  expect(await visitPages(user, visited)).toEqual([]);
});

test("of administration", async () => {
  const user = await server().user();
  const paths = ["users", `users/${user.userId}`, "orders", "jobs", "workers", "storage", "health", "audit"];
  const admin = await createAdmin(server());
  const { worker } = await joinWorker(server().services(), "desk");
  paths.push(`workers/${worker.id}`);
  expect(
    await visitPages(
      admin,
      paths.map((path) => `/admin/${path}`),
    ),
  ).toEqual([]);
});
