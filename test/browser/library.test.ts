/** A real browser: a project with hundreds of recordings, of which only those near the view are in the page. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import type { Client } from "../http/client";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";

const dashboard = useDashboard();
const { open, server } = dashboard;

const COUNT = 400;

/** A project with recordings "Talk 000" to "Talk 399", whose files have not been sent. Returns its ID and those of the recordings. */
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
    await page.waitForTimeout(100);
  }
}

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
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete 401 recordings?" }).waitFor();
});

test("a menu, a dialog and the focus stay while recordings are added above, and the place in the list is said", async () => {
  const user = await server().user();
  const { id, recordings } = await createLibrary(user);
  const page = await open(`/projects/${id}`, user);
  await sortByName(page);
  const card = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Talk 007", exact: true }) });
  const first = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("checkbox") })
    .first();
  // As long as not everything has been read: these recordings are in no total.
  await page.waitForFunction(() => document.querySelector("[data-id]")?.getAttribute("aria-setsize") === "-1");
  await scrollTo(page, "Talk 399");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelector("[data-id]")?.getAttribute("aria-setsize") === "400");
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
  await page.waitForResponse((response) => response.url().includes("/api/v1/assets?"));
  await page.waitForTimeout(500);
  expect(await card.getByRole("menu").isVisible()).toBe(true);
  await card.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog").waitFor();
  await addRecordings(recordings[0]!, ["A00"]);
  await page.waitForTimeout(1_000);
  await page.getByRole("dialog").getByLabel("Name").fill("Talk 007b");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("link", { name: "Talk 007b", exact: true }).first().waitFor();
  await first.getByRole("link", { name: "A0", exact: true }).first().waitFor();
  // Elsewhere, bars cover parts of rows.
  await page.evaluate(() => window.scrollTo(0, 0));
  await expectAccessible(page);

  await page
    .getByRole("radio", { name: "List" })
    .or(page.getByRole("button", { name: "List" }))
    .first()
    .click();
  const table = page.getByRole("table", { name: "Recordings" });
  await table.waitFor();
  expect(await table.getAttribute("aria-rowcount")).toBe("406");
  expect(await table.getByRole("row").nth(1).getAttribute("aria-rowindex")).toBe("2");
  // Elsewhere, bars cover parts of rows.
  await page.evaluate(() => window.scrollTo(0, 0));
  await expectAccessible(page);
});

test("chunks that were never in view have the height of the first one", async () => {
  const user = await server().user();
  const { id } = await createLibrary(user);
  const page = await open(`/projects/${id}`, user);
  await scrollTo(page, "Talk 000");
  const heights = await page.evaluate(() =>
    [...document.querySelectorAll(".recording-chunk")].map((chunk) => Math.round(chunk.getBoundingClientRect().height)),
  );
  expect(new Set(heights.slice(0, -1)).size).toBe(1);
});
