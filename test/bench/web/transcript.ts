/**
 * Measures the transcript in Chromium: `bun test/bench/web/transcript.ts`. 30,000 words, about 2,000 removed spans, the
 * processor slowed six times. Prints JSON; exits with 1 if a limit is exceeded.
 */
import { startEditorBench } from "./editor-server";
import { readFrames, slowDown } from "./trace";

const LIMITS = { painted_ms: 180, edit_ms: 50, scroll_fps: 50 };
const SLOWED = 6;
const EDITS = 20;

await using bench = await startEditorBench();
const page = await bench.browser.newPage({ viewport: { width: 1280, height: 900 } });
const problems: string[] = [];
page.on("console", (message) => problems.push(message.text()));
page.on("pageerror", (error) => problems.push(error.message));

const runs = [];
for (let run = 0; run < 5; run++) {
  await page.goto(`${bench.url}?words=30000`);
  await slowDown(page, SLOWED);
  runs.push(await page.evaluate(() => window.bench.mount("transcript")));
}
const complete = await page.evaluate(async () => {
  const before = performance.now();
  const count = () => document.querySelectorAll(".transcript-text p").length;
  for (let last = -1; last !== count(); ) {
    last = count();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    paragraphs: count(),
    removed: document.querySelectorAll(".transcript-text s").length,
    ms: performance.now() - before,
  };
});

/** An edit at a place that is in view, from the change of the plan to the frame that shows it. */
const edits = await page.evaluate(async (count) => {
  const times = [];
  for (let index = 0; index < count; index++) {
    const from = 5 + index * 3;
    await new Promise((resolve) => setTimeout(resolve, 150));
    const before = performance.now();
    window.bench.toggle({ from, to: from + 2 });
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    times.push(performance.now() - before);
  }
  return times.sort((a, b) => a - b);
}, EDITS);

/** Words that are played one after the other. */
const played = await page.evaluate(async () => {
  const times = [];
  for (let word = 200; word < 300; word++) {
    const before = performance.now();
    window.bench.playhead.value = window.bench.words.start[word]!;
    times.push(performance.now() - before);
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  return times.sort((a, b) => a - b);
});
const scroll = await readFrames(page, ".transcript-scroller", { deltaY: 40, count: 120 });

const middle = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const results = {
  painted_ms: Math.round(middle(runs.map(({ painted }) => painted))),
  complete_after_ms: Math.round(complete.ms),
  paragraphs: complete.paragraphs,
  removed_runs: complete.removed,
  edit_ms: Math.round(middle(edits)),
  edit_p95_ms: Math.round(edits[Math.floor(edits.length * 0.95)]!),
  played_word_p95_ms: Math.round(played[95]! * 10) / 10,
  scroll_fps: scroll.fps,
  slowed: SLOWED,
  problems,
};
console.log(JSON.stringify(results, null, 2));
const isOver =
  results.painted_ms > LIMITS.painted_ms || results.edit_ms > LIMITS.edit_ms || results.scroll_fps < LIMITS.scroll_fps;
process.exitCode = isOver || problems.length > 0 ? 1 : 0;
