/** A real browser: truncated or mistyped links, and links to deleted resources. Each page says so and leads on. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import { OPEN_PATHS, PLAIN_PATHS, SHELL_PATHS } from "../../web/app/paths";
import { isFullSize } from "../full-size";
import { createAdmin } from "../http/accounts";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { createStudioAsset, type StudioAsset } from "./studio";

const { address, browse, server, expectFailures } = useDashboard();

let admin: Client;
let user: Client;
let asset: StudioAsset;
beforeAll(async () => {
  admin = await createAdmin(server());
  user = await server().user();
  asset = await createStudioAsset(user);
});

const LONG = "x".repeat(1000);
const CUT_OFF = "%E0%A4%A";
const ODD_IDS = ["abc", newId(), "%20", "%00", CUT_OFF, "..%2f..", LONG];

/** Two of the values for the `n`-th page, so that each value is on some pages; all of them at full size. */
const inTurn = (values: readonly string[], n: number): readonly string[] =>
  isFullSize ? values : [values[n % values.length]!, values[(n + 3) % values.length]!];

const withPlace = <T>(list: readonly T[]): [T, number][] => list.map((item, n) => [item, n]);

const newPage = async (client: Client | null): Promise<Page> => (await browse(client)).newPage();

async function openPage(path: string, client: Client | null): Promise<Page> {
  const page = await newPage(client);
  await page.goto(address(path));
  return page;
}

test.each(withPlace(SHELL_PATHS.filter((path) => path.includes(":"))))("%s without such an ID", async (path, n) => {
  expectFailures(400, 404, 422);
  const page = await newPage(admin);
  for (const id of inTurn(ODD_IDS, n)) {
    await page.goto(address(path.replace(/:\w+/, id)));
    await page.getByRole("heading", { level: 1, name: /not found/ }).waitFor();
    await page.getByRole("main").getByRole("link").first().waitFor();
  }
});

const FILTERS: [(typeof SHELL_PATHS)[number], string[]][] = [
  ["/admin/users", ["q", "state", "role", "sort"]],
  ["/admin/orders", ["state", "provider"]],
  ["/admin/jobs", ["state", "name", "user_id", "workspace_id"]],
  ["/admin/storage", ["q", "problem"]],
  ["/admin/audit", ["user", "action", "from", "to", "target_id", "actor_id"]],
  ["/credits/history", ["q", "type", "from", "to"]],
  ["/jobs", ["state"]],
];
const ODD_VALUES = ["", "-1", "%00", CUT_OFF, "275760-09-12", LONG];
const isText = (name: string) => name === "q" || name === "user";
const isShown = (page: Page) =>
  page.locator("main .empty, main table, main [role=alert]:not(:empty)").first().waitFor();

test.each(withPlace(FILTERS))("%s with filters that do not exist shows all", async ([path, names], n) => {
  const page = await newPage(admin);
  for (const value of inTurn(ODD_VALUES, n)) {
    const odd = names.filter((name) => !isText(name) || value === LONG);
    await page.goto(address(`${path}?${odd.map((name) => `${name}=${value}`).join("&")}`));
    await isShown(page);
    const fields = page.getByRole("search").locator("input, select");
    expect(await fields.evaluateAll((all) => all.map((field) => (field as HTMLInputElement).value).join(""))).toBe("");
    expect(await page.locator("main [role=alert]:not(:empty)").count()).toBe(0);
  }
});

test("the last day of the calendar ends nothing", async () => {
  const page = await openPage("/credits/history?to=9999-12-31", user);
  await isShown(page);
  expect(await page.locator("main [role=alert]:not(:empty)").count()).toBe(0);
  expect(await page.getByLabel("To", { exact: true }).inputValue()).toBe("9999-12-31");
});

test.each(["", newId(), CUT_OFF, LONG])("an order of workspace '%s' is not found", async (id) => {
  expectFailures(404);
  const page = await openPage(`/orders/${newId()}?workspace_id=${id}`, user);
  await page.getByRole("link", { name: "Show all orders" }).waitFor();
});

const DAMAGED_ENDS = [
  "#",
  `#${CUT_OFF}`,
  `#${LONG}`,
  `?redirect=${CUT_OFF}`,
  "?redirect=//evil.test",
  `?user_code=${LONG}`,
];

test.each(withPlace([...OPEN_PATHS, ...PLAIN_PATHS]))("%s with a damaged link", async (path, n) => {
  const isOpen = path !== "/oauth/device";
  // The page of an invitation reads it, and says that it does not exist.
  const isRead = path === "/invitation";
  if (isRead) expectFailures(404, 422);
  const page = await newPage(isOpen ? null : user);
  for (const end of isRead ? DAMAGED_ENDS : inTurn(DAMAGED_ENDS, n)) {
    await page.goto("about:blank");
    await page.goto(address(`${path}${end}`));
    await page.locator("main h1").waitFor();
    if (isRead && end.startsWith("#") && end !== "#") {
      await page.locator("[role=alert]:not(:empty)").waitFor();
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    } else expect(await page.locator("[role=alert] .icon").count()).toBe(0);
  }
});

const toast = (page: Page, text: string) => page.getByRole("status").getByText(text).waitFor();
const openCut = (page: Page) => page.locator(".workspace").getAttribute("data-cut");

test.each(["", newId(), CUT_OFF])("a recording with cut '%s' opens the newest one", async (id) => {
  expectFailures(404);
  const page = await openPage(`/assets/${asset.id}?cut=${id}`, user);
  if (id !== "") await toast(page, "That cut was not found.");
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  expect(await openCut(page)).toBe(asset.takesCutId);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Talk.wav");
});

test("a time in the link is played from, and one that the recording does not have is dropped", async () => {
  const page = await openPage("/projects", user);
  await page.getByRole("heading", { level: 1 }).waitFor();
  const time = () =>
    page.locator("video").evaluate((video: HTMLVideoElement) => (video.paused ? null : video.currentTime));
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("combobox", { name: /transcripts/ }).fill("Foxtrot");
  const hit = page.getByRole("option", { name: /foxtrot.*Talk\.wav · 0:1\d/ });
  expect(await hit.locator("mark").textContent()).toBe("foxtrot");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Talk.wav" }).waitFor();
  await until("the place is played", async () => ((await time()) ?? 0) > 0);
  expect(page.url()).toBe(address(`/assets/${asset.id}`));
  await page.keyboard.press("Space");
  for (const at of ["", "-1", "1e9", "999999999", "x", LONG]) {
    await page.goto(address(`/assets/${asset.id}?cut=${asset.reviewCutId}&at=${at}`));
    await page.waitForURL(address(`/assets/${asset.id}?cut=${asset.reviewCutId}`));
    await page.locator(".workspace").waitFor();
    expect(await time()).toBeNull();
  }
});

test("a cut of another recording, a deleted one, and one that is deleted in the meantime", async () => {
  expectFailures(404);
  const other = await user.ready(await wav(3));
  const page = await openPage(`/assets/${other.id}?cut=${asset.reviewCutId}`, user);
  await toast(page, "That cut belongs to another recording.");
  await page.getByRole("heading", { name: "Make the first cut" }).waitFor();
  await page.getByRole("link", { name: "Open it" }).click();
  await page.getByRole("tab", { name: /^Review \d/ }).waitFor();
  expect(page.url()).toBe(address(`/assets/${asset.id}?cut=${asset.reviewCutId}`));

  const cut = await user.cutEnded((await user.startCut({ asset_id: other.id })).id);
  await page.goto(address(`/assets/${other.id}?cut=${cut.id}`));
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  await user.must("DELETE", `/v1/cuts/${cut.id}`);
  await toast(page, "That cut was not found.");
  await page.getByRole("heading", { name: "Make the first cut" }).waitFor();
  expect(page.url()).toBe(address(`/assets/${other.id}`));
});

/**
 * Deletes the resource at `path` with the last button of a dialog. The answer arrives after the live event, upon which
 * pages read `list` again. Returns the methods of the requests for `path` from then on.
 */
async function deleteSlowly(page: Page, path: string, label: string, list: RegExp): Promise<string[]> {
  const sent: string[] = [];
  const isRead = page.context().waitForEvent("request", (request) => list.test(request.url()));
  await page.route(address(path), async (route) => {
    const method = route.request().method();
    // The page may still be reading the resource that it has just opened.
    if (sent.length > 0 || method === "DELETE") sent.push(method);
    if (method !== "DELETE") return route.continue();
    await user.must("DELETE", path);
    await isRead;
    await route.fulfill({ status: 204 });
  });
  await page.getByRole("button", { name: label }).click();
  await isRead;
  return sent;
}

test("deleting a cut shows the previous one without a message", async () => {
  const { id, takesCutId, reviewCutId } = await createStudioAsset(user);
  const page = await openPage(`/assets/${id}?cut=${takesCutId}`, user);
  await page.getByRole("button", { name: /^Cut / }).click();
  await page.getByRole("menuitem", { name: "Delete cut" }).click();
  const sent = await deleteSlowly(page, `/api/v1/cuts/${takesCutId}`, "Delete cut", /\/cuts\?/);
  await page.locator(`.workspace[data-cut="${reviewCutId}"]`).waitFor();
  expect(await page.locator(".toast").count()).toBe(0);
  expect(sent).toEqual(["DELETE"]);
});

test("edits of a cut are not sent while it is deleted, and are sent if that fails", async () => {
  expectFailures(503);
  const { id, takesCutId } = await createStudioAsset(user);
  const page = await newPage(user);
  await page.clock.install();
  await page.goto(address(`/assets/${id}?cut=${takesCutId}`));
  let isDeleting = false;
  let sentMeanwhile = 0;
  await page.route("**/draft", (route) => {
    if (isDeleting) sentMeanwhile++;
    return route.continue();
  });
  await page.route(address(`/api/v1/cuts/${takesCutId}`), async (route) => {
    if (route.request().method() !== "DELETE") return route.continue();
    isDeleting = true;
    await page.clock.runFor(30_000);
    isDeleting = false;
    await route.fulfill({ status: 503 });
  });
  await page.getByRole("button", { name: /^Cut / }).waitFor();
  await page.clock.pauseAt(Date.now() + 3_600_000);
  await page.getByRole("group", { name: "Words" }).focus();
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Delete");
  await page.getByRole("button", { name: /^Cut / }).click();
  await page.getByRole("menuitem", { name: "Delete cut" }).click();
  await page.getByRole("button", { name: "Delete cut" }).click();
  await page.getByRole("dialog").getByRole("alert").getByText(/./).first().waitFor();
  const isSent = page.waitForRequest((request) => request.method() === "PUT" && request.url().endsWith("/draft"));
  await page.clock.runFor(2_000);
  await isSent;
  expect(sentMeanwhile).toBe(0);
});

test("deleting a project on its page shows the others", async () => {
  const { id } = await user.project();
  const page = await openPage("/projects", user);
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  const opened = await page.context().newPage();
  await opened.goto(address(`/projects/${id}`));
  await opened.getByRole("button", { name: /^Actions for/ }).click();
  await opened.getByRole("menuitem", { name: "Delete" }).click();
  const sent = await deleteSlowly(opened, `/api/v1/projects/${id}`, "Delete project", /\/projects\?/);
  await opened.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  expect(sent).toEqual(["DELETE"]);
});

test("a cut that could not be deleted stays, and is kept current", async () => {
  expectFailures(404, 503);
  const { id, takesCutId, reviewCutId } = await createStudioAsset(user);
  const page = await openPage(`/assets/${id}?cut=${takesCutId}`, user);
  const url = address(`/api/v1/cuts/${takesCutId}`);
  await page.route(url, (route) =>
    route.request().method() === "DELETE" ? route.fulfill({ status: 503 }) : route.continue(),
  );
  await page.getByRole("button", { name: /^Cut / }).click();
  await page.getByRole("menuitem", { name: "Delete cut" }).click();
  await page.getByRole("button", { name: "Delete cut" }).click();
  await page.getByRole("dialog").getByRole("alert").getByText(/./).first().waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(await openCut(page)).toBe(takesCutId);
  await user.must("DELETE", `/v1/cuts/${takesCutId}`);
  await toast(page, "That cut was not found.");
  await page.locator(`.workspace[data-cut="${reviewCutId}"]`).waitFor();
});
