/** A real browser: a project with hundreds of recordings, of which only those near the view are in the page. */
import { test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import type { Client } from "../http/client";
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
