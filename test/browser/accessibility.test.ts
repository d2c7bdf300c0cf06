/** A real browser: WCAG 2.2 AA as far as axe-core finds it, small screens, zoom, and the keyboard. */
import { expect, test } from "bun:test";
import { fullOr, isFullSize } from "../full-size";
import { createAdmin, startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { sample, send } from "../http/notification-samples";
import { PRICES } from "../http/prices";
import { joinWorker } from "../http/workers";
import { listViolations } from "./axe";
import { useDashboard } from "./dashboard";
import { insertEndedJobs } from "./job-rows";

const { address, browse, open, server, expectFailures } = useDashboard({
  configuration: PRICES,
  settings: { SIGNUP: "open", WEBHOOKS_ALLOW_LOOPBACK: "true" },
});

const OPEN_PAGES = [
  "/sign-in",
  "/sign-up",
  "/setup",
  "/forgot-password",
  "/reset-password#x",
  "/verify-email#x",
  "/invitation#x",
];

const ACCOUNT_PAGES = [
  "/account",
  "/account/security",
  "/account/notifications",
  "/account/data",
  "/workspaces",
  "/workspaces/:id",
];

const ADMIN_PAGES = ["/admin/workers", "/admin/storage", "/admin/backups", "/admin/health", "/admin/audit"];
/** They consist of the same controls. */
const OTHER_ADMIN_PAGES = ["/admin/users", "/admin/orders", "/admin/jobs"];

/** Creates a project with long and right-to-left names. */
async function createProject(user: Client): Promise<string> {
  await user.must("POST", "/api/v1/projects", { json: { name: "مقابلات الصيف الطويلة جدا ".repeat(8).trim() } });
  const { id } = await user.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "W".repeat(200) } });
  return id;
}

test("axe-core finds nothing on the pages without a session", async () => {
  // The invitation is not one.
  expectFailures(404);
  const page = await (await browse(null)).newPage();
  for (const path of OPEN_PAGES) {
    await page.goto(address(path));
    await page.waitForSelector("main h1");
    expect(await listViolations(page)).toEqual([]);
  }
});

test("axe-core finds nothing on the pages with a session, their menus and their dialogs", async () => {
  expectFailures(404);
  const user = await server().user();
  const projectId = await createProject(user);
  const page = await open("/projects", user);
  // All sizes use the reader's chosen unit, so that no text is smaller than its token.
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("16px");
  expect(await listViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "New project", exact: true }).click();
  expect(await listViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  expect(await listViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("W");
  expect(await listViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Account/ }).click();
  expect(await listViolations(page)).toEqual([]);
  await send(server(), user, sample("pipeline_failed"));
  const [jobId] = await insertEndedJobs(server(), user, [{ state: "failed" }]);
  for (const path of [
    `/projects/${projectId}`,
    "/oauth/device",
    "/keys",
    "/jobs",
    `/jobs/${jobId}`,
    "/notifications",
    "/status",
    `/projects/${crypto.randomUUID()}`,
  ]) {
    await page.goto(address(path));
    await page.waitForSelector("main :is(h1, h2)");
    expect(await listViolations(page)).toEqual([]);
  }
});

test("axe-core finds nothing on the pages of credits, which fit on a phone", async () => {
  const user = await server().user();
  const session = await startSession(server(), user);
  const { url } = await session.must<{ url: string }>("POST", "/api/v1/billing/checkout", {
    json: { price_id: "pack-600" },
  });
  const page = await (await browse(user, { viewport: { width: 390, height: 844 } })).newPage();
  const pages = [
    ["/credits", "Open the order"],
    ["/credits/history", "+1,000"],
    ["/credits/orders", "600 credits"],
    ["/credits/invoices", "No invoices yet"],
    [new URL(url).pathname, "Cancel order"],
  ] as const;
  for (const [path, text] of pages.slice(0, fullOr(pages.length, 2))) {
    await page.goto(address(path));
    await page.getByText(text).first().waitFor();
    // As high as the page, because the bar at the bottom would cover content that is not scrolled into view.
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width: 390, height });
    expect(await listViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  }
});

test("axe-core finds nothing on the pages of the account and of workspaces", async () => {
  const user = await server().user();
  const page = await open("/account/security", user);
  await page.getByRole("button", { name: "Set up an authenticator app" }).click();
  expect(await listViolations(page)).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Continue" }).click();
  await page.getByRole("textbox", { name: "Secret" }).waitFor();
  expect(await listViolations(page)).toEqual([]);
  for (const path of ACCOUNT_PAGES.map((one) => one.replace(":id", user.userId))) {
    await page.goto(address(path));
    await page.waitForSelector("main h1");
    await page.waitForSelector("main .skeleton-list", { state: "detached" });
    expect(await listViolations(page)).toEqual([]);
  }
});

test("axe-core finds nothing on the pages of keys and webhooks, which fit on a phone", async () => {
  const user = await server().user();
  const json = {
    url: `http://127.0.0.1:8080/${"hook".repeat(50)}`,
    event_types: ["render.completed", "render.failed"],
  };
  const { id } = await user.must<{ id: string }>("POST", "/v1/webhook-endpoints", { json });
  await user.must("POST", `/v1/webhook-endpoints/${id}/test`);
  const page = await open("/keys", user, { viewport: { width: 390, height: 844 } });
  for (const [path, text, button] of [
    ["/keys", "Revoke", "New API key"],
    ["/webhooks", "render.completed", "New endpoint"],
    [`/webhooks/${id}`, "webhook.test", "Edit"],
  ] as const) {
    await page.goto(address(path));
    await page.getByText(text).first().waitFor();
    expect(await listViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.getByRole("button", { name: button }).click();
    expect(await listViolations(page)).toEqual([]);
  }
});

test("axe-core finds nothing on the pages of administration, nor do they scroll sideways in a narrow window", async () => {
  const admin = await createAdmin(server());
  await server().user();
  const page = await open(`/admin/users/${admin.userId}`, admin, { viewport: { width: 390, height: 844 } });
  const { worker } = await joinWorker(server().services(), "x".repeat(63));
  const paths = [`/admin/workers/${worker.id}`, ...ADMIN_PAGES, ...(isFullSize ? OTHER_ADMIN_PAGES : [])];
  for (const path of [`/admin/users/${admin.userId}`, ...paths]) {
    await page.goto(address(path));
    await page.waitForSelector("main h1");
    await page.waitForSelector("main .skeleton-list", { state: "detached" });
    for (const width of [800, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    expect(await listViolations(page)).toEqual([]);
  }
});

/** Runs in the page: presses a key as soon as there is a heading. */
function pressAtHeading(key: string): void {
  new MutationObserver((_, observer) => {
    if (document.querySelector("h1") === null) return;
    observer.disconnect();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  }).observe(document, { childList: true, subtree: true });
}

test("the keyboard alone creates and opens a project, and goes back to where the focus was", async () => {
  const page = await (await browse(await server().user())).newPage();
  const { keyboard } = page;
  await page.addInitScript(pressAtHeading, "n");
  await page.goto(address("/projects"));
  await page.getByRole("dialog", { name: "New project" }).waitFor();
  // An opened element has the focus before the next key, so no waiting is needed.
  await keyboard.type("By keyboard");
  await keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "By keyboard" }).waitFor();
  // Keys are those of a dialog until it is gone, and the search is loaded a second after the page.
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /transcripts/ }).waitFor();
  await keyboard.type("projects");
  await keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("button", { name: "Actions for By keyboard" }).focus();
  await keyboard.press("Enter");
  await keyboard.press("ArrowDown");
  await keyboard.press("Escape");
  expect(await page.getByRole("menu").count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Actions for By keyboard");
});
