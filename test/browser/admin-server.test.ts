/** A real browser: the server pages of administrators. Orders, jobs, storage, health and the audit log. */
import { expect, test } from "bun:test";
import { readdir, rm, writeFile } from "node:fs/promises";
import * as paths from "node:path";
import { sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import { isFullSize } from "../full-size";
import { createAdmin, emailOf, startSession } from "../http/accounts";
import { video, wav } from "../http/media";
import { PRICES } from "../http/prices";
import { scrub } from "../http/scrub";
import { join } from "../http/workspace-calls";
import { useDashboard, withoutReads } from "./dashboard";
import { saveScreenshots } from "./screenshots";

const { open, address, server, expectFailures } = useDashboard({ configuration: PRICES });

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");
/** Pages without live events read again when they become visible. */
const lookAgain = (page: Page) => page.evaluate(() => void dispatchEvent(new Event("focus")));

test("orders are decided: the waiting ones come first, and a decision of another administrator is shown", async () => {
  expectFailures(409);
  const admin = await createAdmin(server());
  const page = await open("/admin/orders", admin);
  await page.getByRole("heading", { name: "Nobody has ordered credits yet" }).waitFor();
  const anna = await startSession(server(), await server().user(0));
  const order = async () => {
    const { url } = await anna.must<{ url: string }>("POST", "/api/v1/billing/checkout", {
      json: { price_id: "pack-600" },
    });
    return new URL(url).pathname;
  };
  await order();
  await lookAgain(page);
  await page.getByRole("heading", { name: "1 order awaiting a decision" }).waitFor();
  await page.getByRole("button", { name: /^Approve/ }).click();
  await page.getByText("Approved. 600 credits were added.").waitFor();
  await page.getByRole("heading", { name: "No orders await a decision" }).waitFor();
  await page.getByRole("cell", { name: "Paid" }).waitFor();

  const path = await order();
  await lookAgain(page);
  await page.getByRole("button", { name: /^Reject/ }).click();
  expect(await dialog(page).textContent()).toContain("600 credits (€12.00) are not added");
  const other = await startSession(server(), admin);
  await withoutReads(page, "**/api/v1/admin/orders?*", async () => {
    await other.must("POST", `/api/v1/admin${path}/approve`);
    await button(page, "Reject order").click();
  });
  await page.getByText(/already/).waitFor();
  await page.getByRole("heading", { name: "No orders await a decision" }).waitFor();
});

test("jobs of all users are shown, and a running one is cancelled", async () => {
  const admin = await createAdmin(server());
  const anna = await server().user();
  const { id: asset_id } = await anna.ready(await wav(2));
  const hold = server().holdRenders();
  await anna.must("POST", "/v1/renders", { json: { asset_id, output: { format: "mp3" } } });
  const page = await open("/admin/jobs?name=render", admin);
  const cancel = page.getByRole("button", { name: /^Cancel render/ });
  await cancel.click();
  expect(await dialog(page).textContent()).toContain(emailOf(anna));
  await button(page, "Cancel the job").click();
  await page.getByRole("cell", { name: "Cancelled" }).waitFor();
  hold.release();
  await page.getByLabel("State").selectOption("failed");
  await page.getByRole("heading", { name: "No matching jobs" }).waitFor();
});

test("storage by kind and workspace, and health with each check", async () => {
  const admin = await createAdmin(server());
  const anna = await server().user();
  await anna.ready(await wav(2));
  const page = await open("/admin/storage", admin);
  const disk = page.getByRole("region", { name: "Disk" });
  for (const part of ["Recordings", "Renders", "Database", "Free"])
    await disk.getByText(part, { exact: true }).waitFor();
  await page.getByRole("searchbox").fill(anna.userId);
  await page.getByRole("link", { name: emailOf(anna) }).waitFor();
  await page.getByRole("row").nth(2).waitFor({ state: "detached" });

  await page.goto(address("/admin/backups"));
  await page.getByRole("heading", { name: "No backups yet" }).waitFor();
  await page.getByText(/^Set backup_to to a folder/).waitFor();
  expect(await button(page, "Back up now").count()).toBe(0);
  await saveScreenshots(page);

  await page.goto(address("/admin/health"));
  const checks = page.getByRole("list", { name: "Checks" });
  await checks.getByText("Sandbox", { exact: true }).waitFor();
  expect(await checks.getByRole("listitem").count()).toBeGreaterThanOrEqual(10);
  await page.getByRole("region", { name: "Queue" }).getByRole("rowheader", { name: "Render" }).waitFor();
});

test("files with a problem are selected and restored, accepted or deleted together", async () => {
  const admin = await createAdmin(server());
  const anna = await server().user();
  const [lost, rotten] = [await anna.ready(await wav(3)), await anna.ready(await video(2))];
  const { folders } = server().services();
  await rm(folders.media(lost.id).source);
  await writeFile(folders.media(rotten.id).source, "cut off");
  await writeFile(paths.join(folders.media(rotten.id).dir, "notes.txt"), "mine");
  await scrub(server(), 1);
  const page = await open("/admin/storage", admin);
  const section = page.getByRole("region", { name: "3 files with a problem" });
  await section.getByRole("row").last().scrollIntoViewIfNeeded();
  await saveScreenshots(page);
  const box = (path: string) => section.getByRole("checkbox", { name: `Select media/${path}` });
  // No backup has it.
  await box(`${lost.id}/source`).check();
  await section.getByText("1 file selected").waitFor();
  await button(page, "Restore").click();
  await section.getByText("There are no backups: set backup_to.").waitFor();
  await section.getByLabel("Problem", { exact: true }).selectOption("untracked");
  await section.getByRole("row").filter({ hasText: "notes.txt" }).waitFor();
  await button(page, "Select all").click();
  server().advance(4 * 3600 * 1000);
  await button(page, "Delete file").click();
  await dialog(page).getByRole("button", { name: "Delete file" }).click();
  await page.getByRole("heading", { name: "2 files with a problem" }).waitFor();
  await section.waitFor({ state: "detached" });
  expect(await readdir(folders.media(rotten.id).dir)).not.toContain("notes.txt");
  await page.getByLabel("Problem", { exact: true }).selectOption("");
  await button(page, "Select all").click();
  await page.getByText("2 files selected").waitFor();
  await button(page, "Delete recording").click();
  expect(await dialog(page).textContent()).toContain("This cannot be undone");
  await saveScreenshots(page);
  await dialog(page).getByRole("button", { name: "Delete recording" }).click();
  await page.getByRole("heading", { name: /^(Files have not been checked yet|No damaged files)$/ }).waitFor();
  expect((await anna.call("GET", `/v1/assets/${lost.id}`)).status).toBe(404);
});

test("the audit log is filtered, follows new entries, and is downloaded without formulas", async () => {
  const admin = await createAdmin(server());
  const client = await startSession(server(), admin);
  const anna = await server().user();
  const grant = (note: string) =>
    client.must("POST", `/api/v1/admin/users/${anna.userId}/credits`, { json: { delta: 5, note } });
  const { id } = await client.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio West" } });
  await join(client, id, await startSession(server(), anna), "viewer");
  await grant("=cmd|' /C calc'!A0");
  const page = await open(`/admin/audit?user=${anna.userId}`, admin);
  await page.getByText("2 entries", { exact: true }).waitFor();
  const added = page.getByRole("row").filter({ hasText: "Added a member to a workspace" });
  expect(await added.textContent()).toContain(`${emailOf(anna)}, as a viewer`);
  await grant("second");
  await lookAgain(page);
  await page.getByText("3 entries", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Changed credits" }).first().click();
  expect(await dialog(page).textContent()).toContain("127.0.0.1");
  await button(page, "Everything about this user").click();
  await page.waitForURL((url) => url.searchParams.get("target_id") === anna.userId);
  await page.getByLabel("Action").selectOption("user.disabled");
  await page.getByRole("heading", { name: "No matching entries" }).waitFor();
  await page.getByLabel("Action").selectOption("");

  await button(page, "Download the entries that match").click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: /^CSV/ }).click();
  const csv = await Bun.file((await (await downloading).path())!).text();
  expect(csv.split("\r\n")).toHaveLength(4);
  expect(csv).toContain(emailOf(anna));
});

const ROWS = 10_000;

test.if(isFullSize)(
  "10,000 accounts and entries open at once and scroll to the end",
  async () => {
    const admin = await createAdmin(server());
    await server()
      .services()
      .store.write(async (tx) => {
        const now = Date.now();
        for (let n = 0; n < ROWS; n++) {
          const id = newId();
          await tx.run(
            sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${`many${n}@studio.example`}, ${now})`,
          );
          await tx.run(sql`INSERT INTO audit_log (id, created_at, actor_kind, action, target_kind, target_id)
        VALUES (${newId()}, ${now}, 'server', 'user.created', 'user', ${id})`);
        }
      });
    const page = await open("/projects", admin);
    for (const [path, sort] of [
      ["/admin/users", "&sort=-storage_used_bytes"],
      ["/admin/audit", ""],
    ]) {
      const started = performance.now();
      await page.goto(address(`${path}?q=many&user=many${sort}`));
      await page.getByText(/^10,000 /).waitFor();
      console.log(`${path}: ${Math.round(performance.now() - started)} ms`);
      const rows = page.locator("tbody tr");
      while ((await rows.count()) < ROWS) await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
      expect(await rows.count()).toBe(ROWS);
    }
  },
  240_000,
);

test("a problem is on the first page of administration, in the bell and under Health, and goes when it has ended", async () => {
  const admin = await createAdmin(server());
  const page = await open("/admin/users", admin);
  await page.getByRole("heading", { name: "Users" }).waitFor();
  expect(await page.getByText("See details").count()).toBe(0);
  server().disk.freeBytes = 50e9;
  await server().services().alerts.check();
  // The notification's event updates the page.
  await page.getByText("Only 5% of the disk is free. See details").waitFor();
  await saveScreenshots(page);
  await page.getByRole("button", { name: /Notifications/ }).click();
  const item = page.getByRole("link", { name: "Only 5% of the disk is free" });
  await item.waitFor();
  await saveScreenshots(page);
  expect(await page.getByText("Free some space or add a larger disk.").count()).toBeGreaterThan(0);
  await item.click();
  await page.waitForURL(address("/admin/storage"));

  await page.goto(address("/admin/health"));
  const problems = page.getByRole("list", { name: "Problems" });
  await problems.getByText("50 GB of 1 TB are left.").waitFor();
  expect(await page.getByText("Everything works.").count()).toBe(0);
  await saveScreenshots(page);
  expect(await problems.getByRole("link", { name: "Storage" }).getAttribute("href")).toBe("/admin/storage");
  server().disk.freeBytes = 500e9;
  await server().services().alerts.check();
  server().advance(11 * 60_000);
  await server().services().alerts.check();
  await problems.waitFor({ state: "detached" });
});
