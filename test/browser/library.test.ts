/** A real browser: a project with hundreds of recordings. Only those near the view are in the page. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";

const dashboard = useDashboard();
const { address, open, server } = dashboard;

const COUNT = 400;

/**
 * A project with recordings "Talk 000" to "Talk 399", whose files have not been sent. Returns its ID and those of the
 * recordings.
 */
async function createLibrary(user: Client): Promise<{ id: string; recordings: string[] }> {
  const project = await user.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "Talks" } });
  const json = { project_id: project.id, size_bytes: 1_000 };
  const { id: first } = await user.must<{ id: string }>("POST", "/api/v1/assets", { json });
  await rename(user, first, nameOf(0));
  const others = await addRecordings(
    first,
    Array.from({ length: COUNT - 1 }, (_, n) => nameOf(n + 1)),
  );
  return { id: project.id, recordings: [first, ...others] };
}

const nameOf = (n: number): string => `Talk ${String(n).padStart(3, "0")}`;

/** Adds recordings like this one. Returns their IDs. */
async function addRecordings(like: string, names: string[]): Promise<string[]> {
  const ids = names.map(() => Bun.randomUUIDv7());
  await server()
    .services()
    .store.write(async (tx) => {
      const columns = await tx.all<{ name: string }>(sql`SELECT name FROM pragma_table_info('assets')`);
      const same = sql.raw(columns.flatMap(({ name }) => (name === "id" || name === "name" ? [] : `"${name}"`)).join());
      for (const [n, name] of names.entries())
        await tx.run(
          sql`INSERT INTO assets (id, name, ${same}) SELECT ${ids[n]}, ${name}, ${same} FROM assets WHERE id = ${like}`,
        );
    });
  return ids;
}

const rename = (user: Client, id: string, name: string) =>
  user.must("PATCH", `/api/v1/assets/${id}`, { json: { name } });

async function sortByName(page: Page): Promise<void> {
  await page.getByLabel("Sort", { exact: false }).first().selectOption({ label: "Name, A to Z" });
}

/** Scrolls until the recording that is the last one is in view. */
async function scrollTo(page: Page, name: string): Promise<void> {
  const link = page.getByRole("link", { name, exact: true }).first();
  while (!(await link.isVisible())) {
    await page.keyboard.press("End");
    await settle(page);
  }
}

/** Waits until rows and their places stay the same for ten frames. */
const settle = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const read = () => {
      const rows = [...document.querySelectorAll("[data-id]")].map((row) => row.getBoundingClientRect().top);
      return [scrollY, innerWidth, document.documentElement.scrollHeight, ...rows].join();
    };
    for (let [last, same] = ["", 0]; same < 10; ) {
      await new Promise(requestAnimationFrame);
      const now = read();
      same = now === last ? same + 1 : 0;
      last = now;
    }
  });

test("recordings that are added, renamed or moved elsewhere are at their place in a long list", async () => {
  const user = await server().user();
  const { id, recordings } = await createLibrary(user);
  const page = await open(`/projects/${id}`, user);
  await sortByName(page);
  await scrollTo(page, "Talk 399");
  await rename(user, recordings[3]!, "Walk");
  await page.getByRole("link", { name: "Walk", exact: true }).first().waitFor();
  await addRecordings(recordings[0]!, ["Zebra"]);
  await scrollTo(page, "Zebra");
  await page.keyboard.press("Control+a");
  await page.getByText("401 selected").waitFor();
  // One is deselected while they are being read.
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(
    (url) => url.searchParams.has("ids"),
    (route) => promise.then(() => route.continue()),
  );
  const readById = page.waitForRequest((request) => new URL(request.url()).searchParams.has("ids"));
  await rename(user, recordings[5]!, "Talk 005b");
  await readById;
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Reading the recordings…").waitFor();
  await page.getByLabel("Select Zebra").uncheck();
  resolve();
  await page.getByRole("dialog", { name: "Delete 400 recordings?" }).waitFor();
});

test("a menu, a dialog and the focus stay while recordings are added above, and the position in the list is announced", async () => {
  const user = await server().user();
  const { id, recordings } = await createLibrary(user);
  const page = await open(`/projects/${id}`, user);
  await sortByName(page);
  const card = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Talk 007", exact: true }) });
  const first = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("checkbox") })
    .first();
  const readCount = (count: string) =>
    page.waitForFunction((n) => document.querySelector("[data-id]")?.getAttribute("aria-setsize") === n, count);
  // As long as not everything has been read: these recordings are in no total.
  await readCount("-1");
  await scrollTo(page, "Talk 399");
  await page.keyboard.press("Home");
  await readCount("400");
  expect(await card.getAttribute("aria-posinset")).toBe("8");
  const addAbove = async (names: string[]) => {
    await addRecordings(recordings[0]!, names);
    await first.getByRole("link", { name: names[0]!, exact: true }).first().waitFor();
  };
  await card.getByRole("button", { name: "Actions for Talk 007" }).focus();
  await addAbove(["A1", "A2", "A3"]);
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Actions for Talk 007");
  expect(await card.getAttribute("aria-posinset")).toBe("11");

  await page.keyboard.press("Enter");
  await card.getByRole("menu").waitFor();
  await addRecordings(recordings[0]!, ["A0"]);
  // The list has it, and does not show it yet.
  await readCount("404");
  expect(await card.getByRole("menu").isVisible()).toBe(true);
  await card.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog").waitFor();
  await addRecordings(recordings[0]!, ["A00"]);
  await readCount("405");
  await page.getByRole("dialog").getByLabel("Name").fill("Talk 007b");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("link", { name: "Talk 007b", exact: true }).first().waitFor();
  await first.getByRole("link", { name: "A0", exact: true }).first().waitFor();
  // Elsewhere, bars cover parts of rows.
  await page.evaluate(() => window.scrollTo(0, 0));
  await expectAccessible(page);

  await showList(page);
  const table = page.getByRole("table", { name: "Recordings" });
  await table.waitFor();
  expect(await table.getAttribute("aria-rowcount")).toBe("406");
  expect(await table.getByRole("row").nth(1).getAttribute("aria-rowindex")).toBe("2");
  // Elsewhere, bars cover parts of rows.
  await page.evaluate(() => window.scrollTo(0, 0));
  await expectAccessible(page);
});

/** Returns whether the recording with a name is in view. */
const isInView = (page: Page, name: string): Promise<boolean> =>
  page.evaluate((name) => {
    const link = [...document.querySelectorAll("[data-id] a")].find(({ textContent }) => textContent === name);
    const { top, bottom } = link?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
    return top >= 0 && bottom <= innerHeight;
  }, name);

const showList = (page: Page) =>
  page
    .getByRole("radio", { name: "List" })
    .or(page.getByRole("button", { name: "List" }))
    .first()
    .click();

test("recordings that were never in view take as much space as others, and the place stays when the width changes", async () => {
  const user = await server().user();
  const { id } = await createLibrary(user);
  const page = await open(`/projects/${id}`, user);
  await sortByName(page);
  await scrollTo(page, "Talk 399");
  await page.keyboard.press("Home");
  const measure = () =>
    page.evaluate(() => {
      const chunks = [...document.querySelectorAll(".recording-chunk")];
      const last = chunks.at(-1)!;
      const shown = Number(last.lastElementChild!.getAttribute("aria-posinset"));
      const missing = Math.ceil((400 - shown) / chunks[0]!.children.length);
      // The last chunk has no gap after it.
      const [first, gap] = [chunks[0]!, last.nextElementSibling].map((of) => of?.getBoundingClientRect().height ?? 0);
      return { missing, difference: gap! - missing * first! };
    });
  await until(
    "the chunks at the top",
    async () => (await isInView(page, "Talk 000")) && (await measure()).missing > 50,
  );
  expect(Math.abs((await measure()).difference)).toBeLessThan(2);

  for (const look of ["cards", "list"]) {
    await page.setViewportSize({ width: 1_280, height: 720 });
    if (look === "list") await showList(page);
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight / 2));
    for (const width of [1_280, 920, 700, 920, 1_280]) {
      await settle(page);
      const name = await page.evaluate(() => {
        const links = [...document.querySelectorAll("[data-id] a")];
        return links.find((link) => link.getBoundingClientRect().top > 110)!.textContent!;
      });
      expect(Number(name.slice(-3))).toBeWithin(100, 300);
      await page.setViewportSize({ width, height: 720 });
      await settle(page);
      expect({ look, width, name, isInView: await isInView(page, name) }).toMatchObject({ isInView: true });
    }
  }
});

test("titles and menus of the list cover no recording", async () => {
  const user = await server().user();
  const { id, recordings } = await createLibrary(user);
  await rename(user, recordings[0]!, "A recording with a name that is long ".repeat(6));
  const page = await open(`/projects/${id}`, user, { viewport: { width: 1_400, height: 800 } });
  await sortByName(page);
  await showList(page);
  const table = page.getByRole("table", { name: "Recordings" });
  await table.waitFor();
  const firstRow = table.getByRole("row").nth(1);
  expect(await firstRow.evaluate((row) => getComputedStyle(row).borderTopWidth)).toBe("0px");
  await page.evaluate(() => window.scrollTo(0, 1_000));
  const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!;
  const bar = await boxOf(".library-bar");
  expect((await boxOf(".recording-table thead")).y).toBeCloseTo(bar.y + bar.height, 0);
  await page.keyboard.press("Control+a");
  // It moves into its place.
  await page
    .locator(".batch-bar")
    .evaluate(async (bar) => void (await Promise.all(bar.getAnimations().map(({ finished }) => finished))));
  const batchBar = await boxOf(".batch-bar");
  expect((await boxOf(".recording-table thead")).y).toBeCloseTo(batchBar.y + batchBar.height, 0);

  await page.evaluate(() => window.scrollTo(0, 0));
  await page.setViewportSize({ width: 1_000, height: 800 });
  const name = (await firstRow.getByRole("link").boundingBox())!;
  const menu = (await firstRow.getByRole("button", { name: /^Actions/ }).boundingBox())!;
  expect(name.x + name.width).toBeLessThanOrEqual(menu.x);
  // Stacked cells have their titles beside them, unless they are empty.
  const cell = (title: string) => firstRow.locator(`td[data-title="${title}"]`);
  expect(await cell("Last render").textContent()).toBe("");
  expect(await cell("Last render").evaluate(({ clientHeight }) => clientHeight)).toBe(0);
  expect(await cell("Added").evaluate(({ clientHeight }) => clientHeight)).toBeGreaterThan(12);
});

test("renders of a batch, which the recordings show, end without a message in all tabs", async () => {
  const user = await server().user();
  const { id } = await user.project();
  const recordings: string[] = [];
  for (const filename of ["one.wav", "two.wav"]) {
    const { id: asset_id } = await user.ready(await wav(2), { projectId: id, filename });
    await user.cutEnded((await user.startCut({ asset_id })).id);
    recordings.push(asset_id);
  }
  const page = await open(`/projects/${id}`, user);
  const other = await page.context().newPage();
  await other.goto(address("/projects"));
  await other.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByLabel("Select one.wav").check();
  await page.getByLabel("Select two.wav").check();
  await page.getByRole("toolbar", { name: "Selected recordings" }).getByRole("button", { name: "Render" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Render" }).click();
  type Rendered = { items: { last_render: { state: string } | null }[] };
  await until("the renders", async () => {
    const { items } = await user.must<Rendered>("GET", `/api/v1/assets?project_id=${id}`);
    return items.every(({ last_render: render }) => render?.state === "completed");
  });
  // A later one ends with a message, and by then those of the batch would have one.
  await user.startRender({ asset_id: recordings[0], output: { format: "mp3" } });
  for (const tab of [page, other]) {
    await tab.getByText("is ready as MP3").waitFor();
    expect(await tab.getByText("is ready as").count()).toBe(1);
  }
});

test("a batch ends with the work that the server does for it, and names a recording whose render fails", async () => {
  const user = await server().user();
  const { id } = await user.project();
  const recordings: string[] = [];
  for (const filename of ["one.wav", "two.wav"])
    recordings.push((await user.ready(await wav(2), { projectId: id, filename })).id);
  const page = await open(`/projects/${id}`, user);
  const row = page.getByRole("region", { name: "Uploads" }).getByRole("listitem");
  const start = async (name: string) => {
    await page.getByLabel("Select one.wav").check();
    await page.keyboard.press("ControlOrMeta+a");
    await page.getByRole("toolbar", { name: "Selected recordings" }).getByRole("button", { name }).click();
    await page.getByRole("dialog").getByRole("button", { name }).click();
  };
  await start("Make cut");
  await row.filter({ hasText: "Make cut" }).getByText("Done: 2").waitFor();
  const { items } = await user.must<{ items: { latest_cut: object | null }[] }>(
    "GET",
    `/api/v1/assets?project_id=${id}`,
  );
  expect(items.every(({ latest_cut: cut }) => cut !== null)).toBe(true);

  await Bun.write(server().services().folders.media(recordings[1]!).source, "damaged");
  await start("Render");
  const render = row.filter({ hasText: "Render" });
  await render.getByText("1 of 2").waitFor();
  // Instead of waiting for the last attempt.
  const failure = sql`state = 'failed', error_code = 'processing_failed', error_message = 'The encoder stopped.'`;
  const running = sql`asset_id = ${recordings[1]!} AND state <> 'failed'`;
  const failRender = () =>
    server()
      .services()
      .store.write((tx) => tx.run(sql`UPDATE renders SET ${failure} WHERE ${running}`));
  await failRender();
  await render.getByText("1 of 2 done · 1 problem").waitFor();
  await render.getByRole("alert").getByText("two.wav: The encoder stopped.").waitFor();

  await render.getByRole("button", { name: "Try again" }).click();
  await render.getByRole("button", { name: "Close: Render" }).click();
  await failRender();
  await page.locator(".toast").getByText("“two.wav” was not rendered. The encoder stopped.").waitFor();
  // The row named the first failure, whose message would have come before.
  expect(await page.locator(".toast").count()).toBe(1);
});
