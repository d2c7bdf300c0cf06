/** Opens pages of the dashboard in Chromium as a user does, and measures their first screen and scrolling. */
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../chromium";
import { type Frames, readFrames } from "./trace";

const HOST = "studio.test";
/**
 * A new window loads pages of the browser itself, for up to a second on both cores. A user opens the dashboard in a
 * window that is open.
 */
const WINDOW_MS = 1_500;

export type ListPages = {
  browser: Browser;
  /** Errors and warnings of the pages. */
  problems: string[];
  /** Opens a window of a browser without a cache. */
  open(key: string): Promise<Page>;
  address(path: string): string;
  /** Returns the milliseconds from the navigation to the first frame with an element in it. */
  measureOpening(page: Page, path: string, selector: string): Promise<number>;
  /** Opens a list with the scripts in the cache, scrolls it while it loads, then with all its rows. */
  measureList(key: string, path: string, row: string, rows: number): Promise<ListFigures>;
};

export type ListFigures = { first_screen_ms: number; rows: number; while_loading: Frames; full: Frames };

/** Pages of the server at `url`, over plain HTTP under a host name. */
export async function createListPages(url: string): Promise<ListPages> {
  const browser = await launchChromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`], true);
  const problems: string[] = [];
  const address = (path: string) => `http://${HOST}:${new URL(url).port}${path}`;

  async function open(key: string): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    await context.addCookies([{ name: "service_session", value: key, domain: HOST, path: "/", httpOnly: true }]);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    await page.waitForTimeout(WINDOW_MS);
    return page;
  }

  async function measureOpening(page: Page, path: string, selector: string): Promise<number> {
    const devtools = await page.context().newCDPSession(page);
    await page.addInitScript((selector) => {
      const shown = new Promise<number>((resolve) => {
        // Frames are drawn when the page asks for them, not when the measurement does.
        const changes = new MutationObserver(() => {
          if (document.querySelector(selector) === null) return;
          changes.disconnect();
          requestAnimationFrame(() => setTimeout(end));
        });
        changes.observe(document, { childList: true, subtree: true, attributes: true });
        const end = () => {
          const ended = performance.now();
          // The browser reports when the first frame of a page was shown on the screen.
          new PerformanceObserver((paints) => {
            const [first] = paints.getEntriesByName("first-contentful-paint");
            if (first) resolve(Math.max(ended, first.startTime));
          }).observe({ type: "paint", buffered: true });
        };
      });
      Object.assign(window, { shown });
    }, selector);
    await page.goto(address(path));
    // Functions of the page are not used: the first one loads 330 KB of scripts into it while it starts.
    const { result } = await devtools.send("Runtime.evaluate", {
      expression: "shown",
      awaitPromise: true,
      returnByValue: true,
    });
    await devtools.detach();
    return result.value as number;
  }

  async function measureList(key: string, path: string, row: string, rows: number): Promise<ListFigures> {
    const page = await open(key);
    await page.goto(address("/status"));
    await page.waitForSelector("h1");
    const times: number[] = [];
    for (let run = 0; run < 3; run++) times.push(await measureOpening(page, path, row));
    const whileLoading = await readFrames(page, null, { deltaY: 100, count: 120 });
    await loadAll(page, row, rows);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
    const full = await readFrames(page, null, { deltaY: 100, count: 120 });
    await page.context().close();
    return { first_screen_ms: median(times), rows, while_loading: whileLoading, full };
  }

  return { browser, problems, open, address, measureOpening, measureList };
}

/** Scrolls to the end of a list until it has this many rows. */
async function loadAll(page: Page, row: string, rows: number): Promise<void> {
  const count = () => page.locator(row).count();
  while ((await count()) < rows) {
    const before = await count();
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.waitForFunction(([row, before]) => document.querySelectorAll(row).length > before, [
      row,
      before,
    ] as const);
  }
}

export const median = (values: number[]): number => Math.round(values.toSorted((a, b) => a - b)[values.length >> 1]!);
