/**
 * Pictures to look at, in all sizes and both themes, in the folder `OFFCUT_SCREENSHOTS` and only with `OFFCUT_FULL=1`.
 * `OFFCUT_SCREENSHOTS_ONLY` is a regular expression for names, `OFFCUT_SCREENSHOTS_SIZES` one for sizes.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { isFullSize } from "../full-size";

const FOLDER = process.env.OFFCUT_SCREENSHOTS;

export const arePicturesMade = isFullSize && FOLDER !== undefined;

const ONLY = new RegExp(process.env.OFFCUT_SCREENSHOTS_ONLY ?? "");
const ONLY_SIZES = new RegExp(process.env.OFFCUT_SCREENSHOTS_SIZES ?? "");

export const isWanted = (name: string): boolean => ONLY.test(name);

const touch = { hasTouch: true, isMobile: true };

/** Windows by the names of their files. */
export const PICTURE_SIZES = (
  [
    ["1360", { viewport: { width: 1360, height: 850 } }],
    ["1920", { viewport: { width: 1920, height: 1080 } }],
    ["820", { viewport: { width: 820, height: 1180 }, ...touch }],
    ["390", { viewport: { width: 390, height: 844 }, ...touch }],
    // 200% of 1360×850.
    ["zoom", { viewport: { width: 680, height: 425 }, deviceScaleFactor: 2 }],
  ] as [string, BrowserContextOptions][]
).filter(([size]) => ONLY_SIZES.test(size));

/** Time for what follows an action: drawings on a canvas, and images. */
const SETTLE_MS = 300;
const REDRAW_MS = 120;

/** Writes `NAME-SIZE-dark.png` and `NAME-SIZE-light.png`. */
export async function savePictures(page: Page, name: string, size: string): Promise<void> {
  await mkdir(FOLDER!, { recursive: true });
  await page.waitForTimeout(SETTLE_MS);
  for (const theme of ["dark", "light"]) {
    await page.evaluate((value) => {
      document.documentElement.dataset.theme = value;
    }, theme);
    await page.waitForTimeout(REDRAW_MS);
    await page.screenshot({ path: join(FOLDER!, `${name}-${size}-${theme}.png`), animations: "disabled" });
  }
}
