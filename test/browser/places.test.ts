/** A real browser: whoever comes back to a list finds it where it was, with the focus on the row that was opened. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import type { Client } from "../http/client";
import { useDashboard } from "./dashboard";

const { open, server } = useDashboard();

const COUNT = 400;
const nameOf = (n: number): string => `Talk ${String(n).padStart(3, "0")}`;

/** A project with recordings "Talk 000" to "Talk 399", whose files have not been sent. Returns its ID. */
async function createLibrary(user: Client): Promise<string> {
  const { id } = await user.project();
  const json = { project_id: id, size_bytes: 1_000 };
  const { id: first } = await user.must<{ id: string }>("POST", "/api/v1/assets", { json });
  await user.must("PATCH", `/api/v1/assets/${first}`, { json: { name: nameOf(0) } });
  await server()
    .services()
    .store.write(async (tx) => {
      const columns = await tx.all<{ name: string }>(sql`SELECT name FROM pragma_table_info('assets')`);
      const same = sql.raw(columns.flatMap(({ name }) => (name === "id" || name === "name" ? [] : `"${name}"`)).join());
      for (let n = 1; n < COUNT; n++)
        await tx.run(
          sql`INSERT INTO assets (id, name, ${same}) SELECT ${Bun.randomUUIDv7()}, ${nameOf(n)}, ${same} FROM assets WHERE id = ${first}`,
        );
    });
  return id;
}

/** The names of the link with the focus, and whether it is in view. */
const readFocus = (page: Page) =>
  page.evaluate(() => {
    const { top, bottom } = document.activeElement!.getBoundingClientRect();
    return { name: document.activeElement!.textContent, isInView: top >= 0 && bottom <= innerHeight };
  });

const waitForFocus = (page: Page, name: string) =>
  page.waitForFunction((text) => document.activeElement?.textContent === text, name);

/** Scrolls down, a window in each frame, until a recording is in the page. */
const reach = (page: Page, name: string): Promise<void> =>
  page.evaluate(async (name) => {
    while (![...document.querySelectorAll("[data-id] a")].some(({ textContent }) => textContent === name)) {
      scrollBy(0, innerHeight);
      await new Promise(requestAnimationFrame);
    }
  }, name);

test("the way back leads to the place in a long list, with the focus on its row", async () => {
  const user = await server().user();
  const id = await createLibrary(user);
  const page = await open(`/projects/${id}`, user);
  await page.getByLabel("Sort", { exact: false }).first().selectOption({ label: "Name, A to Z" });
  for (const look of ["cards", "list"]) {
    if (look === "list")
      await page
        .getByRole("radio", { name: "List" })
        .or(page.getByRole("button", { name: "List" }))
        .first()
        .click();
    await page.evaluate(() => scrollTo(0, 0));
    await reach(page, "Talk 250");
    const link = page.locator("[data-id] a", { hasText: /^Talk 250$/ });
    await link.scrollIntoViewIfNeeded();
    const top = await page.evaluate(() => scrollY);
    expect(top).toBeGreaterThan(2_000);
    const goThere = async (open: () => Promise<void>) => {
      await open();
      await page.waitForURL(/\/assets\//);
      await page.getByRole("heading", { name: "Talk 250" }).first().waitFor();
      expect(await page.evaluate(() => scrollY)).toBe(0);
    };
    await goThere(() => link.click());
    await page.goBack();
    await waitForFocus(page, "Talk 250");
    const place = { ...(await readFocus(page)), top: await page.evaluate(() => scrollY) };
    expect({ look, ...place }).toEqual({ look, name: "Talk 250", isInView: true, top });

    // A list that has changed meanwhile is read again, page by page.
    await goThere(() => page.keyboard.press("Enter"));
    const changed = page.waitForResponse((response) => response.url().includes("/api/v1/assets"));
    await user.must("PATCH", `/api/v1/assets/${opened(page)}`, { json: { note: look } });
    await changed;
    await page.goBack();
    await waitForFocus(page, "Talk 250");
    expect(await readFocus(page)).toMatchObject({ isInView: true });
  }
  // What has not been left for one of its rows is shown from its top.
  await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  await page.getByRole("link", { name: "Projects", exact: true }).first().click();
  await page.getByRole("link", { name: "Project", exact: true }).first().click();
  await page.getByRole("heading", { level: 1, name: "Project" }).waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

const opened = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1)!;
