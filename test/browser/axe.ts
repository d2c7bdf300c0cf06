/** Checks a page for WCAG 2.2 AA with axe-core, in both themes, and whether it fits narrow windows. */
import { expect } from "bun:test";
import type axe from "axe-core";
import type { Page } from "playwright-core";
import { isFullSize } from "../full-size";
import type { RowPage } from "./action-driver";
import { saveScreenshots } from "./screenshots";

/** The minified build, because each page that is examined parses it. */
export const AXE_SOURCE = await Bun.file(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir)).text();

export const AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Rules that depend on the theme. The other rules see the same page twice. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** A phone, a window that is narrow for the navigation at the side, and 200% of a window of 1280 by 800. */
const NARROW = [
  { width: 390, height: 844 },
  { width: 800, height: 600 },
  { width: 640, height: 400 },
];

/**
 * Lists the rules that are broken, with the elements that break them, and the windows in which the page scrolls
 * sideways.
 */
export async function listViolations(page: Page): Promise<string[]> {
  const found = await findBrokenRules(page);
  await saveScreenshots(page);
  const before = page.viewportSize();
  for (const size of before?.width === 1280 ? [...NARROW, before] : []) {
    await page.setViewportSize(size);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > size.width) found.push(`${width} px wide in a window of ${size.width} px`);
  }
  return found.map((text) => `${new URL(page.url()).pathname} ${text}`);
}

/** Lists the rules that are broken in each theme, with the elements that break them. */
export async function findBrokenRules(page: Pick<RowPage, "evaluate">): Promise<string[]> {
  // Not added as an element, because the policy allows no inline script.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE_SOURCE);
  return await page.evaluate(runAxe, [AXE_TAGS, isFullSize ? AXE_TAGS : COLOR_RULES, isFullSize]);
}

export const expectAccessible = async (page: Page): Promise<void> => expect(await listViolations(page)).toEqual([]);

/** Runs in the page. */
async function runAxe([tags, ofDark, isDarkComplete]: readonly [string[], string[], boolean]) {
  const { axe: inPage } = window as unknown as { axe: typeof axe };
  const found: string[] = [];
  for (const theme of ["light", "dark"]) {
    document.documentElement.dataset.theme = theme;
    // Colors change gradually. Repeating animations have no end.
    const ending = document.getAnimations().filter(({ effect }) => effect?.getTiming().iterations !== Infinity);
    for (const animation of ending) animation.finish();
    await Promise.allSettled(ending.map(({ finished }) => finished));
    const isComplete = theme === "light" || isDarkComplete;
    const { violations } = await inPage.run(document, {
      runOnly: isComplete ? { type: "tag", values: tags } : { type: "rule", values: ofDark },
      resultTypes: ["violations"],
    });
    found.push(...violations.map(({ id, nodes }) => `${theme} ${id}: ${nodes.map(({ html }) => html).join(" ")}`));
  }
  return found;
}
