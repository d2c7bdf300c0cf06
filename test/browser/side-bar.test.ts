/** A real browser: the side bar, its pinned projects, and the pages behind "Settings". */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { startSession } from "../http/accounts";
import { video } from "../http/media";
import { createWorkspace, join } from "../http/workspace-calls";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";
import { saveScreenshots } from "./screenshots";

const { address, open, server } = useDashboard();
const main = (page: Page) => page.getByRole("navigation", { name: "Main" });
const pin = async (page: Page, name: string, item: "Pin" | "Unpin") => {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};

test("projects are pinned to the side bar for a user and workspace, in all tabs, until they are unpinned or archived", async () => {
  const user = await server().user();
  await createWorkspace(await startSession(server(), user), "Studio");
  const film = await user.project("The Alkyone film");
  await user.ready(await video(2), { projectId: film.id });
  const talks = await user.project("Harbor talks");
  const page = await open("/projects", user);
  const other = await page.context().newPage();
  await other.goto(address("/jobs"));
  const pinned = (of: Page) => main(of).getByRole("list", { name: "Pinned" }).getByRole("link");
  for (const name of ["The Alkyone film", "Harbor talks"]) await pin(page, name, "Pin");
  for (const tab of [page, other]) {
    await pinned(tab).filter({ hasText: "Harbor talks" }).waitFor();
    expect(await pinned(tab).allTextContents()).toEqual(["The Alkyone film", "Harbor talks"]);
  }
  await pinned(other).first().click();
  await other.getByRole("heading", { level: 1, name: "The Alkyone film" }).waitFor();
  expect(await main(other).locator("[aria-current]").allTextContents()).toEqual(["The Alkyone film"]);
  await expectAccessible(other);
  await saveScreenshots(other);
  // The tab bar of a narrow window has no links of projects.
  await other.setViewportSize({ width: 820, height: 1180 });
  await main(other).locator("[aria-current]").filter({ hasText: "Projects" }).waitFor();
  expect(await pinned(other).count()).toBe(0);
  await other.setViewportSize({ width: 1280, height: 720 });
  await pinned(other).nth(1).waitFor();
  await saveScreenshots(page);

  await user.must("PATCH", `/api/v1/projects/${talks.id}`, { json: { name: "Sea talks" } });
  await pinned(other).filter({ hasText: "Sea talks" }).waitFor();
  await user.must("PATCH", `/api/v1/projects/${talks.id}`, { json: { state: "archived" } });
  await pinned(other).filter({ hasText: "Sea talks" }).waitFor({ state: "detached" });
  await page.reload();
  await pinned(page).first().waitFor();
  await pin(page, "The Alkyone film", "Unpin");
  for (const tab of [page, other]) await pinned(tab).first().waitFor({ state: "detached" });
  expect(await main(other).locator("[aria-current]").allTextContents()).toEqual(["Projects"]);

  await pin(other, "The Alkyone film", "Pin");
  await pinned(page).first().waitFor();
  await page.getByLabel("Workspace").selectOption({ label: "Studio" });
  await page.getByRole("heading", { name: "Drop a recording, get a cut" }).waitFor();
  expect(await pinned(page).count()).toBe(0);
});

test("a viewer pins a project, and has no other actions", async () => {
  const [owner, viewer] = [await startSession(server(), await server().user()), await server().user()];
  const { id } = await createWorkspace(owner, "Studio");
  await join(owner, id, await startSession(server(), viewer), "viewer");
  const headers = { "Offcut-Workspace": id };
  const project = await owner.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "Films" }, headers });
  const page = await open("/projects", viewer);
  await page.getByLabel("Workspace").selectOption({ label: "Studio" });
  await page.getByRole("link", { name: "Films" }).click();
  // Rows of the list, which stays until the page has loaded, have the same menu.
  await page.getByRole("heading", { level: 1, name: "Films" }).waitFor();
  await page.getByRole("button", { name: "Actions for Films" }).click();
  await page.getByRole("menuitem", { name: "Pin" }).waitFor();
  expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Pin"]);
  await page.getByRole("menuitem", { name: "Pin" }).click();
  await main(page).getByRole("link", { name: "Films" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/projects/${project.id}`);
});

test("settings list every page of the account, the workspace and the server, and each leads back", async () => {
  const user = await server().user();
  const page = await open("/projects", user);
  await main(page).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  await expectAccessible(page);
  await saveScreenshots(page);
  await page.keyboard.press("Control+k");
  const search = page.getByRole("dialog", { name: "Search" });
  for (const [text, name] of Object.entries({ password: "Security", members: "Workspaces", account: "Profile" })) {
    await search.getByRole("combobox").fill(text);
    await search.getByRole("option").filter({ hasText: name }).waitFor();
  }
  await page.keyboard.press("Escape");
  const links = await page
    .locator("main .settings-list a")
    .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  expect(links).toEqual([
    "/account",
    "/account/security",
    "/account/notifications",
    "/account/data",
    "/workspaces",
    "/credits",
    "/keys",
    "/webhooks",
    "/status",
  ]);
  for (const href of links) {
    await page.locator(`main a[href="${href}"]`).click();
    await page.waitForURL((url) => url.pathname === href);
    expect(await main(page).locator("[aria-current]").allTextContents()).toEqual(["Settings"]);
    await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  }
});

test.each([
  ["a phone", 390, 844],
  ["a tablet", 820, 1180],
])("the tabs of %s are Projects, Jobs, Notifications and More, which has the settings", async (_, width, height) => {
  const user = await server().user();
  await createWorkspace(await startSession(server(), user), "Studio");
  const page = await open("/jobs", user, { viewport: { width, height }, hasTouch: true, isMobile: true });
  const tabs = main(page).locator("a, button").filter({ visible: true });
  expect((await tabs.allInnerTexts()).map((text) => text.trim())).toEqual([
    "Projects",
    "Jobs",
    "Notifications",
    "More",
  ]);
  await expectAccessible(page);
  const more = page.getByRole("button", { name: "More", exact: true });
  await more.tap();
  const menu = page.getByRole("menu", { name: "More" });
  expect(await menu.getByRole("menuitem").allTextContents()).toEqual([
    "Settings",
    "Account",
    "Workspaces",
    "System status",
    "Sign out",
  ]);
  // It moves into its place.
  await until("the menu above its tab", async () => {
    const [box, tab] = [(await menu.boundingBox())!, (await more.boundingBox())!];
    return box.x >= 0 && box.x + box.width <= width && box.y + box.height <= tab.y + 1;
  });
  await menu.getByRole("menuitem", { name: "Settings" }).tap();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  await saveScreenshots(page);
  await page.getByRole("combobox", { name: "Workspace" }).selectOption({ label: "Studio" });
  await page.getByRole("heading", { name: "Drop a recording, get a cut" }).waitFor();
});
