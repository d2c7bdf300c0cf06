/**
 * Measures a project with 5,000 recordings in Chromium: `bun test/bench/web/library.ts [scroll|batch]`, both by
 * default. First screen and scrolling of cards and of the list, beside an empty page of the same height; then a batch
 * of 500 with its longest task on the page, its requests, and the delays of others in the meantime. A server in this
 * process, its pages over plain HTTP under a host name. Prints a JSON object per part when it is measured; exits with 1
 * if a limit is exceeded.
 */
import { mkdir, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { Page, Request } from "playwright-core";
import { CUT_MODES } from "../../../src/domain/plan";
import { newId } from "../../../src/lib/ids";
import { findAssetById, insertAsset } from "../../../src/store/assets";
import { insertCut } from "../../../src/store/cuts";
import { saveCutSummary } from "../../../src/store/library";
import { insertProject } from "../../../src/store/projects";
import { createAdmin, startSession } from "../../http/accounts";
import { type Harness, harness } from "../../http/harness";
import { video, wav } from "../../http/media";
import { createListPages, median } from "./list-pages";
import { readFrames, traceFrames } from "./trace";

const ASSETS = 5_000;
const BATCH = 500;
const OPENINGS = 11;
const PART = process.argv[2];
const LIMITS = { first_screen_ms: 300, work_p99_ms: 16, lost_fps: 4, task_ms: 50, others_ms: 250 };
/** After a batch, its events are still followed. */
const EVENTS_MS = 15_000;

// A batch is slower with the usual limit of 600 requests a minute, which the page waits for.
await using server = await harness({ RATE_LIMIT: "0" });
const admin = await createAdmin(server);
const session = await startSession(server, admin);
const { key } = session;
const projectId = await seed(server);
const pages = await createListPages(server.url());
const path = `/projects/${projectId}`;

/** Adds a project with recordings that all have a cut, every second one with video. They share the files of two. */
async function seed({ services, user }: Harness): Promise<string> {
  const { store, folders } = services();
  const uploader = await user();
  const { id: audio } = await uploader.ready(await wav(2), { filename: "Talk.wav" });
  const { id: film } = await uploader.ready(await video(2), { filename: "Talk.mp4" });
  const kinds = [(await findAssetById(store.read, audio))!, (await findAssetById(store.read, film))!];
  const now = Date.now();
  const owner = { workspace_id: admin.userId, created_by: admin.userId };
  const project = { ...owner, id: newId(), name: "Interviews", state: "active" as const, archived_at: null };
  const copies: { id: string; of: string }[] = [];
  await store.write(async (tx) => {
    await insertProject(tx, { ...project, created_at: now, updated_at: now, last_activity_at: now });
    for (let n = 0; n < ASSETS; n++) {
      const asset = kinds[n % kinds.length]!;
      const copy = { ...asset, ...owner, id: newId(), project_id: project.id, created_at: now - n * 60_000 };
      await insertAsset(tx, { ...copy, filename: `Recording ${n} of the summer.${asset.extension}` });
      copies.push({ id: copy.id, of: asset.id });
      const cut = { id: newId(), workspace_id: admin.userId, asset_id: copy.id, state: "completed" as const };
      await insertCut(tx, { ...cut, script: "", options: CUT_MODES.natural, created_at: now, completed_at: now });
      await saveCutSummary(tx, { cut_id: cut.id, asset_id: copy.id, kept: 1_000_000, open_marks: n % 5 });
    }
  });
  await mkdir(dirname(folders.media(audio).dir), { recursive: true });
  for (const { id, of } of copies) await symlink(folders.media(of).dir, folders.media(id).dir);
  return project.id;
}

const WHEEL = { deltaY: 100, count: 120 };
/** Scrolls to the end until nothing more is read. */
const readAll = (page: Page) =>
  page.evaluate(async (count) => {
    const height = () => document.documentElement.scrollHeight;
    for (let last = -1; last !== height(); ) {
      last = height();
      scrollTo(0, last);
      for (let wait = 0; wait < 100 && last === height(); wait++)
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return count;
  }, ASSETS);

const LOOKS = [
  { look: "grid", name: "cards", button: "Grid", row: ".recording" },
  { look: "list", name: "list", button: "List", row: ".recording-name" },
] as const;
type Look = (typeof LOOKS)[number];

/** Measures the first screen, and scrolling while more recordings are read. */
async function measureOpening({ look, row }: Look) {
  const page = await pages.open(key);
  await page.addInitScript(([name, look]) => localStorage.setItem(name, JSON.stringify({ look })), [
    `offcut.library.${admin.userId}`,
    look,
  ] as const);
  await page.goto(pages.address("/status"));
  await page.waitForSelector("h1");
  const times: number[] = [];
  // The browser keeps the compiled scripts after the first ones.
  for (let run = 0; run < OPENINGS; run++) times.push(await pages.measureOpening(page, path, row));
  const loading = await readFrames(page, null, WHEEL);
  await page.context().close();
  return { first_screen_ms: median(times), while_loading: loading };
}

/** Opens the project with all of its recordings. */
async function openAll(): Promise<Page> {
  const page = await pages.open(key);
  await page.goto(pages.address(path));
  await page.waitForSelector(".recording");
  await readAll(page);
  return page;
}

/** Measures a page in the middle of its height. */
async function measureMiddle(page: Page) {
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight / 2));
  await page.waitForTimeout(500);
  const full = await readFrames(page, null, WHEEL);
  const work = await traceFrames(page, WHEEL);
  return { full, work };
}

async function measureScrolling(page: Page, { button, row }: Look) {
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.waitForSelector(row);
  const figures = await measureMiddle(page);
  return { ...figures, rows_in_page: await page.locator(row).count() };
}

/** Scrolls an empty page of the same height, to measure the browser itself on this machine. */
async function measureEmpty() {
  const page = await pages.open(key);
  await page.setContent('<div style="height: 300000px"></div>');
  const figures = await measureMiddle(page);
  await page.context().close();
  return figures;
}

type Watched = { tasks: number[] };

/** Selects the newest recordings of all that are loaded, and makes cuts of them. */
async function measureBatch(page: Page) {
  await page.evaluate(() => {
    const watched: Watched = { tasks: [] };
    Object.assign(window, { watched });
    new PerformanceObserver((list) => watched.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe(
      {
        type: "longtask",
      },
    );
  });
  const requests = new Map<string, number>();
  const answered = new Map<string, number>();
  const countIn = (counts: Map<string, number>) => (request: Request) => {
    const name = `${request.method()} ${new URL(request.url()).pathname.replaceAll(/[0-9a-f-]{36}/g, ":id")}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  page.on("request", countIn(requests));
  page.on("requestfinished", countIn(answered));
  await page.getByLabel("Select Recording 0 of the summer").check();
  const last = page.getByLabel(`Select Recording ${BATCH - 1} of the summer`);
  // A queue of turns would carry on past it.
  while ((await last.count()) === 0) {
    await page.mouse.wheel(0, 600);
    await page.waitForTimeout(50);
  }
  await last.scrollIntoViewIfNeeded();
  await last.click({ modifiers: ["Shift"] });
  await page.getByRole("toolbar").getByRole("button", { name: "Make cut" }).click();
  await page.getByRole("dialog").getByLabel("Mode").selectOption("tight");
  const waits: number[] = [];
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      const before = performance.now();
      await session.must("GET", "/api/v1/users/me");
      waits.push(performance.now() - before);
      await Bun.sleep(50);
    }
  })();
  const started = performance.now();
  await page.getByRole("dialog").getByRole("button", { name: "Make cut" }).click();
  while ((answered.get("POST /api/v1/cuts") ?? 0) < BATCH) await page.waitForTimeout(50);
  const duration = performance.now() - started;
  await page.waitForTimeout(EVENTS_MS);
  isOver = true;
  await others;
  const { tasks } = await page.evaluate(() => (window as unknown as { watched: Watched }).watched);
  const sorted = waits.toSorted((a, b) => a - b);
  return {
    duration_s: Math.round(duration / 100) / 10,
    longest_task_ms: Math.round(Math.max(0, ...tasks)),
    tasks_above_50_ms: tasks.length,
    requests: Object.fromEntries(requests),
    others: {
      count: waits.length,
      p95_ms: Math.round(sorted[Math.floor(sorted.length * 0.95)]!),
      longest_ms: Math.round(sorted.at(-1)!),
    },
  };
}

let isOver = false;
/** Prints the figures of a part. */
function report<Figures>(part: string, figures: Figures, isTooSlow: boolean): Figures {
  console.log(JSON.stringify({ [part]: figures, ...(isTooSlow && { exceeds_limit: true }) }));
  isOver ||= isTooSlow;
  return figures;
}

const isScrolled = PART !== "batch";
if (isScrolled)
  for (const look of LOOKS) {
    const figures = await measureOpening(look);
    report(`${look.name}, opened`, figures, figures.first_screen_ms > LIMITS.first_screen_ms);
  }
const started = performance.now();
const page = await openAll();
report("all_read", { duration_s: Math.round((performance.now() - started) / 100) / 10 }, false);
if (isScrolled) {
  const empty = report("empty", await measureEmpty(), false);
  for (const look of LOOKS.toReversed()) {
    const figures = await measureScrolling(page, look);
    const { full, work } = figures;
    const isTooSlow = work.p99_ms > LIMITS.work_p99_ms || full.fps < empty.full.fps - LIMITS.lost_fps;
    report(look.name, figures, isTooSlow);
  }
}
if (PART !== "scroll") {
  await page.evaluate(() => scrollTo(0, 0));
  const figures = await measureBatch(page);
  report("batch", figures, figures.longest_task_ms > LIMITS.task_ms || figures.others.longest_ms > LIMITS.others_ms);
}
report("problems", pages.problems, pages.problems.length > 0);
await pages.browser.close();
process.exit(isOver ? 1 : 0);
