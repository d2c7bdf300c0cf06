/** A real browser: live updates over one event stream for all tabs. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { BrowserContext, Page } from "playwright-core";
import { fullOr, isFullSize } from "../full-size";
import { createAdmin, emailOf, PASSWORD, startSession, withPassword } from "../http/accounts";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const { address, browse, server, expectFailures } = useDashboard();

const TABS = fullOr(8, 3);

/** Counts the streams that a browser has opened and not closed. */
function countStreams(context: BrowserContext): () => number {
  let open = 0;
  const isStream = (url: string) => new URL(url).pathname === "/api/v1/events";
  context.on("request", (request) => isStream(request.url()) && open++);
  const onEnd = (request: { url(): string }) => isStream(request.url()) && open--;
  context.on("requestfinished", onEnd);
  context.on("requestfailed", onEnd);
  return () => open;
}

async function openTab(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address("/projects"));
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  return page;
}

test("all tabs stay current with one stream, also after the tab that reads it was closed", async () => {
  const user = await server().user();
  const context = await browse(user);
  const streams = countStreams(context);
  const tabs: Page[] = [];
  for (let tab = 0; tab < TABS; tab++) tabs.push(await openTab(context));
  const create = async (name: string, pages: Page[]) => {
    await user.must("POST", "/api/v1/projects", { json: { name } });
    await Promise.all(pages.map((page) => page.getByRole("link", { name }).waitFor()));
  };
  await until("a stream", () => streams() === 1);
  await create("First", tabs);
  // Two tabs of a slow browser may have claimed the stream, until they saw each other.
  await until("one stream", () => streams() === 1);
  // The first tab opened the stream.
  await tabs[0]!.close();
  const started = performance.now();
  await create("Second", tabs.slice(1));
  if (isFullSize) expect(performance.now() - started).toBeLessThan(8_000);
  // The pages are current; a closed tab's request may never be reported as ended.
  await until("one more stream at most", () => streams() <= 2);
});

test("a page reads only permissions again when its stream opens, and shows what has changed before", async () => {
  const user = await server().user();
  const context = await browse(user);
  const reads: string[] = [];
  context.on("request", (request) => reads.push(request.url().replace(address(""), "")));
  const listed = context.waitForEvent("response", (response) => /\/api\/v1\/projects\?/.test(response.url()));
  await context.route("**/api/v1/events?*", async (route) => {
    await listed;
    await user.must("POST", "/api/v1/projects", { json: { name: "Meanwhile" } });
    await route.continue();
  });
  const page = await openTab(context);
  await page.getByRole("link", { name: "Meanwhile" }).waitFor();
  const listReadAgain = () => reads.filter((url, n) => reads.indexOf(url) < n).map((url) => url.replace(/\?.*/, ""));
  const permissions = ["/api/v1/users/me", "/api/v1/billing", "/api/v1/workspaces"];
  await until("the permissions", () => permissions.every((path) => listReadAgain().includes(path)));
  expect(listReadAgain().toSorted()).toEqual([...permissions, "/api/v1/projects"].toSorted());
});

test("a role that changes before the stream opens is noticed, also by a tab that opens it later", async () => {
  const user = await server().user();
  const context = await browse(user);
  const listed = context.waitForEvent("response", (response) => /\/api\/v1\/projects\?/.test(response.url()));
  let isAdmin = 1;
  await context.route("**/api/v1/events?*", async (route) => {
    await listed;
    const { store } = server().services();
    await store.write((tx) => tx.run(sql`UPDATE users SET is_admin = ${isAdmin} WHERE id = ${user.userId}`));
    await route.continue();
  });
  const first = await openTab(context);
  await first.getByText("You are now an administrator.").waitFor();
  const second = await openTab(context);
  isAdmin = 0;
  await first.close();
  await second.getByText("You are no longer an administrator.").waitFor();
});

test.if(isFullSize)("the other tabs stay current while the tab that reads the stream is frozen", async () => {
  const user = await server().user();
  const context = await browse(user);
  const streams = countStreams(context);
  const first = await openTab(context);
  await until("a stream", async () => streams() === 1);
  const second = await openTab(context);
  // Without an event that the page could react to.
  const frozen = first.evaluate((until) => {
    while (Date.now() < until) Math.sqrt(2);
  }, Date.now() + 9_000);
  await user.must("POST", "/api/v1/projects", { json: { name: "Meanwhile" } });
  await second.getByRole("link", { name: "Meanwhile" }).waitFor({ timeout: 8_000 });
  await frozen;
  await user.must("POST", "/api/v1/projects", { json: { name: "Afterwards" } });
  for (const tab of [first, second]) await tab.getByRole("link", { name: "Afterwards" }).waitFor({ timeout: 8_000 });
  await until("one stream", async () => streams() <= 1);
});

test("a revoked session leads to the sign-in and back", async () => {
  expectFailures(401, 0);
  // Without an administrator the sign-in page has no form.
  await createAdmin(server());
  const user = await withPassword(server(), await server().user());
  const context = await browse(user);
  const page = await openTab(context);
  const other = await startSession(server(), user);
  const { items } = await other.must<{ items: { id: string; is_current: boolean }[] }>("GET", "/api/v1/sessions");
  for (const { id } of items.filter(({ is_current: isOwn }) => !isOwn))
    await other.must("DELETE", `/api/v1/sessions/${id}`);
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await page.getByLabel("Email").fill(emailOf(user));
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/projects");
});

test("without a network, the page shows that, and is current when the network is back", async () => {
  expectFailures(0);
  const user = await server().user();
  const context = await browse(user);
  const page = await openTab(context);
  // Anything not loaded yet would be missing without the network.
  await page.getByRole("heading", { name: "Drop a recording" }).waitFor();
  await context.setOffline(true);
  await page.getByText("Reconnecting").waitFor();
  await user.must("POST", "/api/v1/projects", { json: { name: "Meanwhile" } });
  await context.setOffline(false);
  await page.getByText("Reconnecting").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Meanwhile" }).waitFor({ timeout: 15_000 });
});

test.if(isFullSize)("without a stream the pages ask again from time to time", async () => {
  expectFailures(429);
  const user = await server().user();
  const context = await browse(user);
  await context.route("**/api/v1/events*", (route) => route.fulfill({ status: 429 }));
  const page = await openTab(context);
  await user.must("POST", "/api/v1/projects", { json: { name: "Polled" } });
  await page.getByRole("link", { name: "Polled" }).waitFor({ timeout: 20_000 });
});
