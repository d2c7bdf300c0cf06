/** A real browser: the first start, projects, the session, and the shell around the pages. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { emailOf, PASSWORD, startSession, withPassword } from "../http/accounts";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import { createWorkspace } from "../http/workspace-calls";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const dashboard = useDashboard();
const { address, open, server, expectFailures, expectError } = dashboard;

/** Without the font, which replaces one of the system when it arrives. */
const MAX_FIRST_LOAD_BYTES = 60_000;
/** The sign-in page loads neither the shell nor the styles of other pages. */
const MAX_SIGN_IN_BYTES = 48_000;

async function createProject(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "New project", exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

test("from the first start to a recording that is ready", async () => {
  const url = new URL((await server().services().setup.url())!);
  const page = await open(url.pathname + url.hash, null);
  await page.getByLabel("Email").fill("ada@studio.example");
  await page.getByLabel("New password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByRole("heading", { name: "Drop a recording, get a cut" }).waitFor();
  await createProject(page, "Talks");
  await page.getByText("Drop recordings here").waitFor();
  const file = { name: "keynote.wav", mimeType: "audio/wav", buffer: Buffer.from(await wav(2)) };
  await page.getByLabel("Upload files").setInputFiles(file);
  const row = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "keynote.wav" }) });
  await row.getByRole("img", { name: /All checked|to review/ }).waitFor();
  const script = { name: "keynote.txt", mimeType: "text/plain", buffer: Buffer.from("alpha") };
  await page.getByLabel("Upload files").setInputFiles([file, script]);
  await page.getByRole("dialog", { name: "Upload again?" }).getByRole("button", { name: "Skip" }).click();
  await page.getByText("“keynote.txt” not used: drop it on the page of the recording you already have.").waitFor();
  expect(await page.getByRole("link", { name: "keynote.wav" }).count()).toBe(1);
  await page.getByLabel("Upload files").setInputFiles({ ...file, name: "empty.wav", buffer: Buffer.alloc(0) });
  await page.getByRole("alert").getByText("Empty or damaged.").waitFor();
});

test("without a session a single call is refused, and the sign-in leads back", async () => {
  expectFailures(401);
  const user = await withPassword(server(), await server().user());
  const page = await dashboard.browse(null).then((context) => context.newPage());
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(new URL(response.url()).pathname);
  });
  await page.goto(address("/projects?x=1"));
  await page.getByLabel("Email").fill(emailOf(user));
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  expect([page.url(), refused]).toEqual([address("/projects?x=1"), ["/api/v1/users/me"]]);
});

test("projects are created, renamed, archived, found and deleted", async () => {
  const page = await open("/projects", await server().user());
  await createProject(page, "مقابلات a name that is long enough to be cut off ".repeat(4).trim());
  await page.goBack();
  await createProject(page, "Second");
  await page.getByRole("button", { name: "Actions for Second" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Lectures");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { level: 1, name: "Lectures" }).waitFor();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Projects" }).click();
  await page.getByLabel("Search projects").fill("lect");
  await page.getByRole("link", { name: /مقابلات/ }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Actions for Lectures" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("link", { name: "Lectures" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Archived" }).click();
  // On a phone, a menu low on the page opens above the tab bar.
  const actions = page.getByRole("button", { name: "Actions for Lectures" });
  await page.setViewportSize({ width: 390, height: 700 });
  const low = (await actions.boundingBox())!;
  await page.setViewportSize({ width: 390, height: Math.round(low.y + low.height + 90) });
  await actions.click();
  const menu = (await page.getByRole("menu").boundingBox())!;
  const tabs = (await page.getByRole("navigation", { name: "Main" }).boundingBox())!;
  expect([menu.y >= 0, menu.height > 60, menu.y + menu.height <= tabs.y]).toEqual([true, true, true]);
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete project" }).click();
  await page.getByRole("link", { name: "Lectures" }).waitFor({ state: "detached" });
});

test("an old session needs the password, and the call is repeated", async () => {
  expectFailures(403);
  const user = await withPassword(server(), await server().user());
  const client = { client_id: "Premiere panel" };
  const page = await open("/projects", user);
  server().advance(24 * 3600 * 1000);
  const body = new URLSearchParams(client);
  const codes = (await (await fetch(`${server().url()}/oauth/device/code`, { method: "POST", body })).json()) as {
    user_code: string;
  };
  await page.goto(address(`/oauth/device?user_code=${codes.user_code}`));
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog", { name: "Enter your password" });
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { level: 1, name: "Connected" }).waitFor();
});

test("the theme is kept, and an unknown path shows an error page", async () => {
  const page = await open("/projects", await server().user(), { colorScheme: "light" });
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await page.getByRole("button", { name: "Theme" }).click();
  expect(await theme()).toBe("dark");
  await page.reload();
  await page.waitForSelector("h1");
  expect(await theme()).toBe("dark");
});

/** Runs in the page: notes when the first heading appears. */
function noteHeading(): void {
  new MutationObserver((_, observer) => {
    if (document.querySelector("h1") === null) return;
    observer.disconnect();
    performance.mark("heading");
  }).observe(document, { childList: true, subtree: true });
}

/**
 * Runs in the page: lists the compressed sizes of the files that it asked for before its heading. Preloaded files come
 * later.
 */
function listFirstSizes(): number[] {
  const [heading] = performance.getEntriesByName("heading");
  const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return (loaded as PerformanceResourceTiming[])
    .filter(({ name, startTime }) => startTime <= heading!.startTime && !/\/api\/|\.woff2$/.test(name))
    .map(({ encodedBodySize }) => encodedBodySize);
}

test("the first load is small, and the sign-in page's is smaller", async () => {
  const measure = async (path: string, user: Client | null) => {
    const page = await dashboard.browse(user).then((context) => context.newPage());
    const loading = new Set<string>();
    page.on("request", (request) => /\/api\//.test(request.url()) || loading.add(request.url()));
    page.on("requestfinished", (request) => loading.delete(request.url()));
    await page.addInitScript(noteHeading);
    await page.goto(address(path));
    await page.waitForSelector("h1");
    // A file has a size when it has been loaded.
    await until("all files", async () => loading.size === 0);
    const sizes = await page.evaluate(listFirstSizes);
    // The page, its style and its script.
    expect(sizes.length).toBeGreaterThan(2);
    return { page, bytes: sizes.reduce((sum, size) => sum + size) };
  };
  const user = await server().user();
  await user.must("POST", "/api/v1/projects", { json: { name: "Talks" } });
  const { page, bytes } = await measure("/", user);
  expect(bytes).toBeLessThan(MAX_FIRST_LOAD_BYTES);
  expect(await page.evaluate(() => document.fonts.load("14px 'Inter Variable'").then((fonts) => fonts.length))).toBe(1);
  const signIn = await measure("/sign-in", null);
  expect(signIn.bytes).toBeLessThan(MAX_SIGN_IN_BYTES);
  expect(await signIn.page.locator("link[data-style]").count()).toBe(0);
});

test("a page with missing files is reloaded once, and then shows advice", async () => {
  expectFailures(0);
  expectError(/Failed to fetch dynamically imported module/);
  const user = await server().user();
  const { id, name } = await user.must<{ id: string; name: string }>("POST", "/api/v1/projects", {
    json: { name: "Talks" },
  });
  const first = await open("/projects", user);
  const files: string[] = [];
  first.on("request", (request) => files.push(request.url()));
  const openProject = (page: Page) => page.getByRole("link", { name }).click();
  await openProject(first);
  await first.getByRole("heading", { level: 1, name }).waitFor();
  const chunks = files.filter((url) => url.includes("/app/chunk-"));
  expect(chunks.length).toBeGreaterThan(0);

  const page = await open("/projects", user);
  await page.route(
    (url) => chunks.includes(url.href),
    (route) => route.abort(),
  );
  let loads = 0;
  page.on("load", () => loads++);
  await openProject(page);
  await page.getByRole("heading", { level: 1, name: "This page did not load" }).waitFor();
  expect(loads).toBe(1);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/projects/${id}`);
});

test("a page whose script fails does not blame the connection", async () => {
  expectError(/TypeError|RangeError/);
  const user = await server().user();
  const page = await open("/status", user);
  await page.route("**/api-keys?*", (route) => route.fulfill({ json: { items: [{ id: "x" }], next_cursor: null } }));
  await page.goto(address("/keys"));
  await page.getByRole("heading", { level: 1, name: "This page failed" }).waitFor();
  await page.getByText("Reload it, or open another page.").waitFor();
});

test("signing in as another user, or out, affects all tabs", async () => {
  expectFailures(401);
  const [anna, ben] = [await server().user(), await withPassword(server(), await server().user())];
  const context = await dashboard.browse(anna);
  const [first, second] = [await context.newPage(), await context.newPage()];
  const account = (page: Page, { userId }: typeof ben) =>
    page.getByRole("button", { name: `Account: ${emailOf({ userId })}` });
  await second.goto(address("/status"));
  await account(second, anna).waitFor();
  await first.goto(address("/sign-in?redirect=/status"));
  await first.getByLabel("Email").fill(emailOf(ben));
  await first.getByLabel("Password").fill(PASSWORD);
  await first.getByRole("button", { name: "Sign in" }).click();
  for (const page of [first, second]) await account(page, ben).waitFor();
  await account(first, ben).click();
  await first.getByRole("menuitem", { name: "Sign out" }).click();
  for (const page of [first, second]) await page.getByLabel("Password").waitFor();
});

test("another workspace has its own projects, and empty lists show a message", async () => {
  const user = await server().user();
  const session = await startSession(server(), user);
  await createWorkspace(session, "Studio");
  await user.must("POST", "/api/v1/projects", { json: { name: "Mine" } });
  const page = await open("/projects", user);
  await page.getByRole("link", { name: "Mine" }).waitFor();
  await page.getByLabel("Search projects").fill("nothing");
  await page.getByRole("heading", { name: "No project matches “nothing”" }).waitFor();
  await page.getByRole("button", { name: "Show all active projects" }).click();
  await page.getByRole("link", { name: "Mine" }).waitFor();
  await page.getByRole("button", { name: "Archived" }).click();
  await page.getByRole("heading", { name: "No archived projects" }).waitFor();
  await page.getByRole("button", { name: "Show all active projects" }).click();
  await page.getByRole("link", { name: "Mine" }).waitFor();
  await page.getByLabel("Workspace").selectOption({ label: "Studio" });
  await page.getByRole("heading", { name: "Drop a recording, get a cut" }).waitFor();
  await page.getByRole("button", { name: "Try the demo talk" }).click();
  await page.getByRole("heading", { level: 1, name: "Demo talk" }).waitFor();
  await page.getByRole("link", { name: "Demo talk.mp4" }).waitFor();
  await page.goBack();
  await createProject(page, "Ours");
  await page.getByText("Drop recordings here").waitFor();
  await page.getByText(/^Video and audio: .* up to 107\sGB a file/).waitFor();
  await page.getByLabel("Workspace").selectOption({ label: "Personal" });
  await page.getByRole("link", { name: "Mine" }).waitFor();
  expect(await page.getByRole("link", { name: "Ours" }).count()).toBe(0);
});
