/**
 * Screenshots to look at after a change: each page in both themes, on a phone and on a tablet, in the folder that
 * `OFFCUT_SCREENSHOTS` names.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";

const FOLDER = process.env.OFFCUT_SCREENSHOTS;
const SCREENS = { phone: { width: 390, height: 844 }, tablet: { width: 820, height: 1180 } };

let count = 0;

/** Writes four PNG files, named after the path of the page. Without a folder it does nothing. */
export async function saveScreenshots(page: Page): Promise<void> {
  if (!FOLDER) return;
  await mkdir(FOLDER, { recursive: true });
  const path = new URL(page.url()).pathname.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id").replaceAll("/", "_");
  const name = `${String(++count).padStart(3, "0")}${path}`;
  const window = page.viewportSize();
  for (const theme of ["light", "dark"]) await save(page, theme, `${name}-${theme}`);
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    await save(page, screen === "tablet" ? "dark" : "light", `${name}-${screen}`);
  }
  if (window !== null) await page.setViewportSize(window);
}

async function save(page: Page, theme: string, name: string): Promise<void> {
  await page.evaluate((value) => {
    document.documentElement.dataset.theme = value;
  }, theme);
  await page.screenshot({ path: join(FOLDER!, `${name}.png`), animations: "disabled" });
}
