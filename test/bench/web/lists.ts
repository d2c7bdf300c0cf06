/**
 * Measures the first load and long lists of the dashboard in Chromium: `bun test/bench/web/lists.ts [ROWS]` (default 10,000). A server in this
 * process, its pages over plain HTTP under a host name. Prints JSON; exits with 1 if a limit is exceeded.
 */
import type { Browser, Page } from "playwright-core";
import { CUT_MODES } from "../../../src/domain/plan";
import { newId } from "../../../src/lib/ids";
import { findAssetById, insertAsset } from "../../../src/store/assets";
import { insertCut } from "../../../src/store/cuts";
import { saveCutSummary } from "../../../src/store/library";
import { insertProject } from "../../../src/store/projects";
import { insertUser } from "../../../src/store/users";
import { launchChromium } from "../../chromium";
import { createAdmin, startSession } from "../../http/accounts";
import { type Harness, harness } from "../../http/harness";
import { addGrants } from "../../http/ledger-rows";
import { wav } from "../../http/media";
import { readFrames } from "./trace";

const ROWS = Number(process.argv[2] ?? 10_000);
const ASSETS = 5_000;
const LIMITS = { bytes: 100_000, interactive_ms: 300, first_screen_ms: 300, fps: 50 };
const HOST = "studio.test";
/** A new window loads pages of the browser itself, for up to a second on both cores. A user opens the dashboard in a window that is open. */
const WINDOW_MS = 1_500;

await using server = await harness();
const admin = await createAdmin(server);
const { key } = await startSession(server, admin);
const projectId = await seed(server);
const browser = await launchChromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`], true);
const problems: string[] = [];

/** Adds projects, assets, users and credits. Returns the project with the assets. */
async function seed({ services, user }: Harness): Promise<string> {
  const { store } = services();
  const { id } = await (await user()).ready(await wav(2), { filename: "Talk.wav" });
  const asset = (await findAssetById(store.read, id))!;
  const now = Date.now();
  const common = { workspace_id: admin.userId, created_by: admin.userId, state: "active" as const, archived_at: null };
  const insertAt = async (tx: Parameters<Parameters<typeof store.write>[0]>[0], name: string, at: number) => {
    const project = { ...common, id: newId(), name, created_at: at, updated_at: at, last_activity_at: at };
    return (await insertProject(tx, project)).id;
  };
  await addGrants(server, admin.userId, ROWS);
  return await store.write(async (tx) => {
    for (let n = 0; n < ROWS; n++) {
      await insertAt(tx, `Project ${n}`, now - n * 60_000);
      const userId = newId();
      await insertUser(tx, { id: userId, email: `${userId}@example.test`, created_at: now - n });
    }
    const projectId = await insertAt(tx, "Interviews", now);
    for (let n = 0; n < ASSETS; n++) {
      const copy = {
        ...asset,
        id: newId(),
        workspace_id: admin.userId,
        project_id: projectId,
        created_at: now - n * 60_000,
      };
      await insertAsset(tx, { ...copy, filename: `Recording ${n} of the summer.wav` });
      const cut = { id: newId(), workspace_id: admin.userId, asset_id: copy.id, state: "completed" as const };
      await insertCut(tx, { ...cut, script: "", options: CUT_MODES.natural, created_at: now, completed_at: now });
      await saveCutSummary(tx, { cut_id: cut.id, asset_id: copy.id, kept: 1_000_000, open_marks: n % 5 });
    }
    return projectId;
  });
}

/** Opens a page in a browser without a cache. */
async function openPage(browser: Browser, key: string): Promise<Page> {
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

const address = (path: string) => `http://${HOST}:${new URL(server.url()).port}${path}`;

/** Returns the milliseconds from the navigation to the first frame with an element in it. */
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
        // Of the first frame of a page the browser reports when it was on the screen.
        new PerformanceObserver((paints) => {
          const [first] = paints.getEntriesByName("first-contentful-paint");
          if (first) resolve(Math.max(ended, first.startTime));
        }).observe({ type: "paint", buffered: true });
      };
    });
    Object.assign(window, { shown });
  }, selector);
  await page.goto(address(path));
  // Not with a function of the page: the first one loads 330 KB of scripts into it, while it starts.
  const { result } = await devtools.send("Runtime.evaluate", {
    expression: "shown",
    awaitPromise: true,
    returnByValue: true,
  });
  await devtools.detach();
  return result.value as number;
}

const median = (values: number[]) => Math.round(values.toSorted((a, b) => a - b)[values.length >> 1]!);

/** The first page in a browser without a cache, of a user with one project. */
async function measureFirstLoad() {
  const user = await server.user();
  await user.must("POST", "/api/v1/projects", { json: { name: "Interviews" } });
  const session = await startSession(server, user);
  const interactive: number[] = [];
  const listed: number[] = [];
  let bytes = 0;
  for (let run = 0; run < 10; run++) {
    const page = await openPage(browser, session.key);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Network.enable");
    bytes = 0;
    devtools.on("Network.loadingFinished", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    (run % 2 ? listed : interactive).push(
      await measureOpening(page, "/", run % 2 ? ".project" : "main .button.primary"),
    );
    await page.waitForLoadState("load");
    await page.context().close();
  }
  return { bytes, interactive_ms: median(interactive), list_ms: median(listed) };
}

/** Opens a list with the scripts in the cache, scrolls it while it loads, then with all its rows. */
async function measureList(path: string, row: string, rows: number) {
  const page = await openPage(browser, key);
  await page.goto(address("/status"));
  await page.waitForSelector("h1");
  const times: number[] = [];
  for (let run = 0; run < 3; run++) times.push(await measureOpening(page, path, row));
  const loading = await readFrames(page, null, { deltaY: 100, count: 120 });
  const count = () => page.locator(row).count();
  while ((await count()) < rows) {
    const before = await count();
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.waitForFunction(([row, before]) => document.querySelectorAll(row).length > before, [
      row,
      before,
    ] as const);
  }
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
  const full = await readFrames(page, null, { deltaY: 100, count: 120 });
  await page.context().close();
  return {
    first_screen_ms: median(times),
    rows,
    fps_while_loading: loading.fps,
    fps: full.fps,
    longest_ms: full.longest_ms,
  };
}

const results = {
  first_load: await measureFirstLoad(),
  assets: await measureList(`/projects/${projectId}`, ".recording", ASSETS),
  projects: await measureList("/projects", ".project h2", ROWS),
  users: await measureList("/admin/users", ".data-table tbody tr", ROWS),
  problems,
};
await browser.close();
console.log(JSON.stringify(results, null, 2));
const lists = [results.assets, results.projects, results.users];
const isOver =
  results.first_load.bytes > LIMITS.bytes ||
  results.first_load.interactive_ms > LIMITS.interactive_ms ||
  lists.some((list) => list.first_screen_ms > LIMITS.first_screen_ms || list.fps < LIMITS.fps);
process.exit(isOver || problems.length > 0 ? 1 : 0);
