/** A real browser: the backup pages of administrators. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { copyFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { createAdmin } from "../http/accounts";
import { GOOD_FINDINGS } from "../http/drill-command";
import { useDashboard } from "./dashboard";
import { saveScreenshots } from "./screenshots";

const root = mkdtempSync(join(tmpdir(), "offcut-backups-"));
afterAll(() => rm(root, { recursive: true, force: true }));

const folder = join(root, "backup");
mkdirSync(folder);
/** The findings of a restored server, and the file that ends it. */
const [findings, end] = [join(root, "findings"), join(root, "end")];
const PROBLEM = "Frame 13 of 240 differs from the stored render.";
writeFileSync(findings, JSON.stringify(GOOD_FINDINGS));
writeFileSync(end, "");
const script = `cat ${findings}; until [ -e ${end} ]; do sleep 0.05; done`;

const { open, server } = useDashboard({
  settings: { BACKUP_TO: folder },
  drillCommand: ["/bin/sh", "-c", script],
});

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const row = (page: Page, kind: string, state: string) =>
  page.getByRole("row").filter({ hasText: kind }).filter({ hasText: state }).first();

test("the nightly drill is shown; a backup is created, verified, and its damage reported", async () => {
  const page = await open("/admin/backups", await createAdmin(server()));
  await page.getByText(/^Last proven restore: today .*, 3,912 files$/).waitFor();
  await row(page, "Drill", "Completed").getByText("3,912 files read, 12 balances and 240 frames compared").waitFor();
  await saveScreenshots(page);
  await button(page, "Back up now").click();
  await page.getByText("The backup has started.").waitFor();
  const verify = page.getByRole("button", { name: /^Verify offcut-/ });
  await verify.nth(1).waitFor();
  await verify.first().click();
  await row(page, "Verification", "Completed").waitFor();

  const [newest] = (await readdir(folder)).sort().reverse();
  const secrets = join(folder, newest!, "secrets.json");
  await copyFile(secrets, join(root, "kept"));
  await writeFile(secrets, "{}");
  await verify.first().click();
  await row(page, "Verification", "Failed")
    .getByText(/^secrets\.json has 2 bytes, expected \d+\.$/)
    .waitFor();
  await page.getByText(/^The last verification found a problem, today/).waitFor();
  await saveScreenshots(page);
  await rename(join(root, "kept"), secrets);

  await rm(end);
  await writeFile(findings, JSON.stringify({ ...GOOD_FINDINGS, problems: [PROBLEM] }));
  await button(page, "Run a restore drill").click();
  await page.getByText("A restore drill is running: the newest backup is restored and checked.").waitFor();
  expect(await button(page, "Back up now").isDisabled()).toBe(true);
  await writeFile(end, "");
  await row(page, "Drill", "Failed").getByText(PROBLEM).waitFor();
  await page.getByText(/^The last restore drill failed, today/).waitFor();
});
