/** A real browser: a list to which the user returns keeps its position, and the opened row has the focus. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import { startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const { open, server } = useDashboard();

const COUNT = 400;
const nameOf = (n: number): string => `Talk ${String(n).padStart(3, "0")}`;

/** Adds recordings "Talk 000" to "Talk 399", whose files have not been sent, to a project. */
async function addTalks(user: Client, id: string): Promise<void> {
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
  const { id } = await user.project();
  await addTalks(user, id);
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

    // A list that has changed in the meantime is read again, page by page.
    await goThere(() => page.keyboard.press("Enter"));
    const path = `/api/v1/assets/${opened(page)}`;
    const changed = page.waitForResponse(
      async (response) => new URL(response.url()).pathname === path && (await response.text()).includes(`"${look}"`),
    );
    await user.must("PATCH", path, { json: { note: look } });
    await changed;
    let reads = 0;
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === "/api/v1/assets" && searchParams.has("cursor")) reads++;
    });
    await page.goBack();
    await waitForFocus(page, "Talk 250");
    expect(await readFocus(page)).toMatchObject({ isInView: true });
    expect(reads).toBeGreaterThan(0);
  }
  // A page that was not left through one of its rows is shown from its top.
  await page.getByRole("link", { name: /^Jobs/ }).first().click();
  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  await page.getByRole("link", { name: "Projects", exact: true }).first().click();
  await page.getByRole("link", { name: "Project", exact: true }).first().click();
  await page.getByRole("link", { name: "Talk 000", exact: true }).first().waitFor();
  expect(await readTop(page)).toBe(0);
});

test("only pages opened from a row lead back: filters stay on the way back, and navigation shows the top", async () => {
  const user = await server().user();
  const { id } = await user.project();
  const { id: ready } = await user.ready(await wav(1), { projectId: id, filename: "ready.wav" });
  await user.must("PATCH", `/api/v1/assets/${ready}`, { json: { name: "Talk 399b" } });
  await addTalks(user, id);
  const page = await open(`/assets/${ready}`, user, { viewport: { width: 1_000, height: 300 } });
  await (await startSession(server(), user)).must("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  await page.reload();
  const back = page.getByRole("link", { name: "Back to Project" });
  // The project was opened from the recording, not from a list.
  await back.click();
  await page.getByLabel("Sort", { exact: false }).first().selectOption({ label: "Name, A to Z" });
  await page.getByRole("searchbox").first().fill("Talk");
  await page.waitForURL(/\?q=Talk$/);
  const list = page.url();
  const link = page.locator("[data-id] a", { hasText: /^Talk 399b$/ });
  await reach(page, "Talk 399b");
  await link.click();
  await back.click();
  await page.waitForURL(list);
  await waitForFocus(page, "Talk 399b");
  // A list that has become shorter.
  await link.click();
  await back.waitFor();
  const { items } = await user.must<{ items: { id: string }[] }>(
    "GET",
    `/api/v1/assets?project_id=${id}&sort=name&limit=100`,
  );
  for (const { id } of items) await user.must("DELETE", `/api/v1/assets/${id}`);
  await page.goBack();
  await waitForFocus(page, "Talk 399b");
  expect(await readFocus(page)).toMatchObject({ isInView: true });

  const show = (name: string | RegExp) => page.getByRole("link", { name, exact: true }).first().click();
  const showProjects = async () => {
    await show("Projects");
    await page.getByRole("link", { name: "Project", exact: true }).first().waitFor();
  };
  await showProjects();
  const scroll = async () => {
    // Pictures that are still loading make the page shorter.
    await until("a page that scrolls", async () => {
      await page.evaluate(() => scrollTo(0, 60));
      return (await readTop(page)) === 60;
    });
  };
  await scroll();
  await show(/^Jobs/);
  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  await showProjects();
  expect(await readTop(page)).toBe(0);
  // Another workspace has other lists at the same addresses.
  await scroll();
  await show("Project");
  await page.getByRole("heading", { level: 1, name: "Project", exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Workspace" }).selectOption({ label: "Studio" });
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByText("Drop a recording, get a cut").waitFor();
  expect(await readTop(page)).toBe(0);
});

test("the way back from a recording leads to its row, also if it was opened directly or the list was at its top", async () => {
  const user = await server().user();
  const { id } = await user.project();
  const recordings: string[] = [];
  for (const name of ["First", "Second"]) {
    const json = { project_id: id, size_bytes: 1_000 };
    const made = await user.must<{ id: string }>("POST", "/api/v1/assets", { json });
    await user.must("PATCH", `/api/v1/assets/${made.id}`, { json: { name } });
    recordings.push(made.id);
  }
  const { id: ready } = await user.ready(await wav(1), { projectId: id, filename: "ready.wav" });
  await user.must("PATCH", `/api/v1/assets/${ready}`, { json: { name: "Ready" } });
  const page = await open(`/assets/${ready}`, user);
  const back = page.getByRole("link", { name: "Back to Project" });
  await back.click();
  await waitForFocus(page, "Ready");
  await page.getByRole("link", { name: "First", exact: true }).first().click();
  await page.waitForURL(`**/assets/${recordings[0]}`);
  await page.goBack();
  await waitForFocus(page, "First");
  // The navigation leads to a page, and not to a row.
  await page.getByRole("link", { name: "Ready", exact: true }).first().click();
  await back.waitFor();
  await page.getByRole("link", { name: /^Jobs/ }).first().click();
  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
});

/** Returns where the page is scrolled to, after the frames in which a return to a place would scroll. */
const readTop = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    for (let frame = 0; frame < 10; frame++) await new Promise(requestAnimationFrame);
    return scrollY;
  });

const opened = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1)!;
