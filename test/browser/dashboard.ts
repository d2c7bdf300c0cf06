/** The dashboard in a real browser: over plain HTTP under a host name, where a browser grants no secure context. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from "bun:test";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { shareChromium } from "../chromium";
import { startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { type Harness, harness } from "../http/harness";

const HOST = "studio.test";

/** For a machine that is many times slower. Only failing tests take this long. */
const TEST_MS = 300_000;
const ACTION_MS = Number(process.env.OFFCUT_ACTION_MS ?? 90_000);

type Options = {
  settings?: Record<string, string>;
  configuration?: string;
  drillCommand?: string[];
  /** Whether all tests of the file are skipped: nothing is started then. */
  isSkipped?: boolean;
};

export type Dashboard = {
  server(): Harness;
  address(path: string): string;
  /** Opens a browser of its own, as a user, null: without a session. It is closed after the test. */
  browse(user: Pick<Client, "userId"> | null, options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Opens a page in a browser of its own, and waits for its heading. */
  open(path: string, user: Pick<Client, "userId"> | null, options?: BrowserContextOptions): Promise<Page>;
  /** Expects failed requests in this test, by status; 0 for those without an answer. */
  expectFailures(...statuses: number[]): void;
  /** Expects an error in this test. */
  expectError(pattern: RegExp): void;
};

/**
 * Starts a server and a browser for the tests of a file. After each test it asserts that the console has no error and
 * no warning but those of expected failures, that the content policy was not violated, and that no other host received
 * a request.
 */
export function useDashboard({ settings = {}, isSkipped = false, ...options }: Options = {}): Dashboard {
  setDefaultTimeout(TEST_MS);
  let server: Harness;
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  let problems: string[] = [];
  let expected: number[] = [];
  let expectedError: RegExp | null = null;

  beforeAll(async () => {
    if (isSkipped) return;
    server = await harness(settings, { sharesChild: true, ...options });
    browser = await shareChromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]);
  });
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    const found = problems.filter((text) => !isExpected(text, expected) && !expectedError?.test(text));
    problems = [];
    expected = [];
    expectedError = null;
    expect(found).toEqual([]);
  });
  afterAll(async () => {
    if (!isSkipped) await server[Symbol.asyncDispose]();
  });

  const address = (path: string) => `http://${HOST}:${new URL(server.url()).port}${path}`;

  async function browse(user: Pick<Client, "userId"> | null, options: BrowserContextOptions = {}) {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(ACTION_MS);
    contexts.push(context);
    watch(context, address(""), (problem) => problems.push(problem));
    if (user !== null) {
      const { key } = await startSession(server, user);
      await context.addCookies([{ name: "service_session", value: key, domain: HOST, path: "/", httpOnly: true }]);
    }
    return context;
  }

  return {
    server: () => server,
    address,
    browse,
    open: async (path, user, options) => {
      const page = await (await browse(user, options)).newPage();
      await page.goto(address(path));
      await page.waitForSelector("h1");
      return page;
    },
    expectFailures: (...statuses) => {
      expected = statuses;
    },
    expectError: (pattern) => {
      expectedError = pattern;
    },
  };
}

/** Reports forbidden actions of a page. A message of the console ends with the address that it is about. */
export function watch(context: BrowserContext, origin: string, report: (problem: string) => void): void {
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) report(`${message.text()} ${message.location().url}`);
  });
  context.on("weberror", (thrown) => report(String(thrown.error())));
  context.on("request", (request) => {
    const url = request.url();
    if (/^https?:/.test(url) && !url.startsWith(`${origin}/`)) report(`asked another host: ${url}`);
  });
}

const FAILURE = /^Failed to load resource: (?:the server responded with a status of (\d+)|net::)/;

/** Whether the text is the browser's report of a failed request that the test expects. */
function isExpected(text: string, statuses: number[]): boolean {
  const found = FAILURE.exec(text);
  return found !== null && statuses.includes(Number(found[1] ?? 0));
}

/** Returns the text of the error that a page shows, at its field or above the form. */
export async function readError(page: Page): Promise<string> {
  const shown = page.locator(".field-error, [role=alert] .message, .message[role=alert]").first();
  await shown.waitFor();
  return (await shown.textContent()) ?? "";
}

/**
 * Runs an action while a page's reads of an address get no response, so that after a change by another user no regular
 * read removes an element that is about to be used.
 */
export async function withoutReads(page: Page, url: string, run: () => Promise<void>): Promise<void> {
  const released = Promise.withResolvers<void>();
  // It stays: it cannot be removed while a request passes.
  await page.route(url, async (route) => {
    if (route.request().method() === "GET") await released.promise;
    await route.continue();
  });
  await run();
  released.resolve();
}

/**
 * Leaves event streams that a page opens from now on unanswered, so that shown data is read again only by a button or
 * at an interval.
 */
export async function withholdEvents(page: Page): Promise<void> {
  await page.route("**/api/v1/events*", () => {});
}

/** Drops files and folders of this machine on the middle of an element; without one, of the page. */
export async function drop(page: Page, paths: string[], element: Locator | null = null): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { x, y, width, height } = (await element?.boundingBox()) ?? { x: 0, y: 0, ...page.viewportSize()! };
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: x + width / 2, y: y + height / 2, data });
}
