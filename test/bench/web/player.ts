/**
 * Measures how exactly the player plays a cut: `bun test/bench/web/player.ts [render]`; with `kinds [chromium|firefox]
 * [NAME]`, how it plays twelve kinds of source before and after their previews are ready. A recording of two minutes
 * whose frames and samples can be recognized, a cut with 20 joins, Chromium over plain HTTP under a host name. The
 * audio that was played is recorded and located in the preview. With `render`, the server renders another recording in
 * the meantime. Prints figures and their limits, and never fails.
 */
import { fromSeconds, type Range, toSeconds } from "../../../web/editor/model/plan";
import { openPlayer } from "../../browser/open-player";
import { compareAudio, compareFrames, FRAME_RATE, type Join, readSamples } from "../../browser/player-media";
import type { PlayerHarness } from "../../browser/player-page";
import { until } from "../../until";
import { createSource } from "../render/media";

declare const harness: PlayerHarness;

const SECONDS = 120;
/** In seconds, on frames: most starts are not on keyframes. */
const SPANS = [
  [2.4, 6.4],
  [7.8, 9],
  [9.36, 15.36],
  [22.56, 22.96],
  [23.08, 26.08],
  [48.08, 50.08],
  [53.08, 53.28],
  [53.48, 58.48],
  [59.48, 61.88],
  [77.48, 78.48],
  [80, 81.6],
  [82.32, 84.72],
  [86.04, 86.64],
  [87.88, 90.48],
  [91, 92],
  [93.12, 95.92],
  [97.4, 98.2],
  [100.56, 103.16],
  [104.72, 106.32],
  [108.08, 110.48],
  [112.6, 116.6],
] as const;
const KEPT: Range[] = SPANS.map(([start, end]) => ({ start: fromSeconds(start), end: fromSeconds(end) }));
const EDITS = 10;

if (process.argv[2] === "kinds") {
  const { measureKinds } = await import("./player-sources");
  await measureKinds(process.argv[3] === "firefox" ? "firefox" : "chromium", process.argv[4]);
  process.exit();
}

await using player = await openPlayer(SECONDS, "640:360", true);
const { page } = player;
const source = await readSamples("preview.mp4", player.preview);
const renders = process.argv[2] === "render" ? await startRenders() : [];

/** Starts encoding that lasts longer than the measurement. Returns the IDs. */
async function startRenders(): Promise<string[]> {
  const path = await createSource({ height: 1080, gopSeconds: 2, seconds: 60 });
  const asset = await player.user.ready(await Bun.file(path).bytes(), { filename: "film.mp4" });
  const ids: string[] = [];
  for (let bitrate = 2_000_000; bitrate < 2_012_000; bitrate += 1_000)
    ids.push((await player.user.startRender({ asset_id: asset.id, output: { video_bitrate: bitrate } })).id);
  await until("a render", async () => (await player.user.render(ids[0]!)).state === "processing");
  return ids;
}

async function countCompleted(): Promise<number> {
  const states = await Promise.all(renders.map(async (id) => (await player.user.render(id)).state));
  return states.filter((state) => state === "completed").length;
}

function print(name: string, value: string, limit = ""): void {
  console.log(`${name.padEnd(44)} ${value.padEnd(34)} ${limit}`);
}

const list = (values: number[], unit: string) => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]?.toFixed(1);
  return `median ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)} ${unit}`;
};

/** Plays the cut and returns the shown frames and the played audio. */
async function playCut(rate: number) {
  const started = performance.now();
  await player.open(KEPT);
  const readyMs = performance.now() - started;
  const played = await page.evaluate(async (rate) => {
    const hasAudio = rate === 1;
    if (hasAudio) harness.record();
    const from = performance.now();
    harness.player.setRate(rate);
    harness.player.play();
    await harness.ended();
    const { totalVideoFrames, droppedVideoFrames } = harness.video.getVideoPlaybackQuality();
    return {
      shown: harness.shown,
      stalls: harness.stalls.filter((at) => at > from).length,
      seconds: (performance.now() - from) / 1000,
      totalVideoFrames,
      droppedVideoFrames,
      webm: hasAudio ? await harness.stopRecording() : "",
      length: harness.state().length,
    };
  }, rate);
  return { ...played, readyMs };
}

const cut = await playCut(1);
const frames = compareFrames(cut.shown, KEPT);
print("page, plan to first picture", `${cut.readyMs.toFixed(0)} ms`);
print("frames shown", `${frames.expected - frames.missing.length} of ${frames.expected}`);
print("removed frames shown", String(frames.removed.length), "0");
print("stalls at 1×", `${cut.stalls} in ${cut.seconds.toFixed(1)} s`, "0");
const joins: Join[] = compareAudio(await readSamples("played.webm", Buffer.from(cut.webm, "base64")), source, KEPT);
const found = joins.flatMap(({ shift }) => (shift === null ? [] : [Math.abs(shift) / 48]));
print(`join error, ${found.length} of ${joins.length} joins found`, list(found, "ms"), "0 ms");
print(
  "around a join neither span",
  list(
    joins.map(({ wrongMs }) => wrongMs),
    "ms",
  ),
);
print(
  "removed audio at a join",
  list(
    joins.map(({ removedMs }) => removedMs),
    "ms",
  ),
);

const fast = await playCut(2);
print(
  "stalls at 2×",
  `${fast.stalls} in ${fast.seconds.toFixed(1)} s of ${(toSeconds(fast.length) / 2).toFixed(1)} s`,
  "0",
);
print("frames dropped at 2×", `${fast.droppedVideoFrames} of ${fast.totalVideoFrames}`);

/**
 * Removes the surroundings of the playhead while it plays, each time at a place where no piece starts yet. `prepared`:
 * the words were selected before.
 */
async function edit(
  index: number,
  kind: "under" | "prepared" | "ahead",
): Promise<{ audioMs: number; frameMs: number; wrong: number }> {
  const place = (kind === "prepared" ? 9.16 : 8) + 10.36 * index;
  return await page.evaluate(
    async ([place, kind, duration, frameRate]) => {
      const isAhead = kind === "ahead";
      const toTime = (seconds: number) => Math.round(seconds * frameRate) * Math.round(1e6 / frameRate);
      // The previous edit is undone first, because a change behind the playhead moves it.
      harness.setKept([{ start: 0, end: duration }]);
      await new Promise((resolve) => setTimeout(resolve, 200));
      harness.player.seek(toTime(place));
      await harness.settled();
      harness.player.play();
      const pass = async (time: number) => {
        while (harness.player.sourceTime.value < toTime(time)) await new Promise((resolve) => setTimeout(resolve, 2));
      };
      const [start, end] = isAhead ? [place + 3, place + 5] : [place + 0.5, place + 3.72];
      const kept = [
        { start: 0, end: toTime(start) },
        { start: toTime(end), end: duration },
      ];
      await pass(place + 0.6);
      if (kind === "prepared") harness.prepare(kept);
      await pass(place + 1);
      const count = harness.shown.length;
      const stalls = harness.stalls.length;
      const seeked = new Promise((resolve) => harness.video.addEventListener("seeked", resolve, { once: true }));
      const edited = harness.setKept(kept);
      if (isAhead) {
        while (harness.player.sourceTime.value < toTime(end + 0.5))
          await new Promise((resolve) => setTimeout(resolve, 5));
        const wrong = harness.shown
          .slice(count)
          .filter(({ frame }) => frame >= Math.round(start * frameRate) && frame < Math.round(end * frameRate)).length;
        return { audioMs: 0, frameMs: 0, wrong: wrong + harness.stalls.length - stalls };
      }
      // The clock of the element is that of the audio: it moves on when the new place is heard.
      const target = toTime(start);
      await seeked;
      const at = harness.video.currentTime;
      while (harness.video.currentTime === at) await new Promise((resolve) => setTimeout(resolve, 1));
      const audioMs = performance.now() - edited - (harness.video.currentTime * 1e6 - target) / 1000;
      const first = () => harness.shown.slice(count).find(({ frame }) => frame >= Math.round(end * frameRate));
      while (first() === undefined) await new Promise((resolve) => setTimeout(resolve, 2));
      const frameMs = first()!.at - edited;
      const wrong = harness.shown
        .slice(harness.shown.indexOf(first()!))
        .filter(({ frame }) => frame < Math.round(end * frameRate)).length;
      return { audioMs, frameMs, wrong };
    },
    [place, kind, fromSeconds(SECONDS), FRAME_RATE] as const,
  );
}

for (const kind of ["under", "prepared"] as const) {
  await player.open([{ start: 0, end: fromSeconds(SECONDS) }]);
  const edits = [];
  for (let index = 0; index < EDITS; index++) edits.push(await edit(index, kind));
  const name = kind === "under" ? "edit under the playhead" : "the same, selected before";
  const heard = edits.map(({ audioMs }) => audioMs);
  const seen = edits.map(({ frameMs }) => frameMs);
  print(`${name}, heard after`, list(heard, "ms"), "100 ms");
  print(`${name}, seen after`, list(seen, "ms"));
  print("removed frames after it", String(edits.reduce((sum, { wrong }) => sum + wrong, 0)), "0");
}
await player.open([{ start: 0, end: fromSeconds(SECONDS) }]);
const ahead = [];
for (let index = 0; index < EDITS / 2; index++) ahead.push(await edit(index, "ahead"));
print("edit ahead: stalls and removed frames", String(ahead.reduce((sum, { wrong }) => sum + wrong, 0)), "0");

const seeks = await page.evaluate(async () => {
  const times: number[] = [];
  harness.player.pause();
  for (let index = 0; index < 20; index++) {
    const count = harness.shown.length;
    const from = performance.now();
    harness.player.seek(((index * 47) % 110) * 1e6 + 333_000);
    while (harness.shown.length === count) await new Promise((resolve) => setTimeout(resolve, 1));
    times.push(performance.now() - from);
  }
  return times;
});
print("seek to a place that is not buffered", list(seeks, "ms"));
if (renders.length > 0) print("renders completed meanwhile", `${await countCompleted()} of ${renders.length}`);
if (player.problems.length > 0) print("console", player.problems.join("\n"));
