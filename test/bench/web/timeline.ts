/**
 * Measures the timeline in Chromium: `bun test/bench/web/timeline.ts`. Three hours at 50 peaks a second and about 2,000
 * removed spans. Prints JSON; exits with 1 if a limit is exceeded.
 */
import { startEditorBench } from "./editor-server";
import { readFrames } from "./trace";

const MIN_FPS = 50;

await using bench = await startEditorBench();
const page = await bench.browser.newPage({ viewport: { width: 1280, height: 900 } });
const problems: string[] = [];
page.on("console", (message) => problems.push(message.text()));
page.on("pageerror", (error) => problems.push(error.message));
await page.goto(`${bench.url}?words=30000`);
const mounted = await page.evaluate(() => window.bench.mount("timeline"));
await page.waitForTimeout(500);

const canvas = ".timeline-canvas canvas";
const zoomIn = await readFrames(page, canvas, { deltaY: -15, count: 60, isZoom: true });
const scroll = await readFrames(page, canvas, { deltaX: 40, count: 120 });
const zoomOut = await readFrames(page, canvas, { deltaY: 15, count: 60, isZoom: true });
const plan = await page.evaluate(() => {
  const { spans, duration } = window.bench.plan.value;
  return { removed: spans.filter(({ isKept }) => !isKept).length, hours: duration / 3.6e9 };
});

const results = {
  hours: Math.round(plan.hours * 10) / 10,
  removed: plan.removed,
  painted_ms: Math.round(mounted.painted),
  zoom_in: zoomIn,
  scroll,
  zoom_out: zoomOut,
  problems,
};
console.log(JSON.stringify(results, null, 2));
const isSlow = [zoomIn, scroll, zoomOut].some(({ fps }) => fps < MIN_FPS);
process.exitCode = isSlow || problems.length > 0 ? 1 : 0;
