import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ALL_FORMATS, BlobSource, Input } from "mediabunny";
import type { PlanJson } from "../../src/domain/plan-json";
import type { SpokenPart, TalkTruth } from "../fixtures/make-talk";
import { makeMedia } from "../http/media";
import type { TemporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { folderWithAssets } from "./extracted-assets";
import { FIXTURES, IS_BUNDLED_PASS, runOffcut, spawnOffcut } from "./offcut";

/** For tests that do not depend on the ffmpeg in use. */
const once = test.skipIf(IS_BUNDLED_PASS);
const TIMEOUT_MS = 120_000;
/**
 * Share of a removed part that may be audible, and of a kept part that may be missing, before it counts as an error.
 */
const HEARD_SHARE = 0.25;
const LOST_SHARE = 0.1;
/** A frame at each end, and the audio's framing. */
const LENGTH_TOLERANCE_SECONDS = 0.15;

let folder: TemporaryFolder;
let truth: TalkTruth;
beforeAll(async () => {
  folder = await folderWithAssets();
  truth = (await Bun.file(join(FIXTURES, "talk.truth.json")).json()) as TalkTruth;
  for (const name of ["talk.mp4", "talk.script.txt"]) await copyFile(join(FIXTURES, name), join(folder.path, name));
  // For tests that do not depend on the text: the first sentence.
  const start = await makeMedia("short.mp4", "-i", join(FIXTURES, "talk.mp4"), "-t", "8", "-c", "copy");
  await Bun.write(join(folder.path, "short.mp4"), start);
});
afterAll(() => folder[Symbol.asyncDispose]());

const run = (args: string[]) => runOffcut(["cut", ...args], { folder: folder.path });
const inFolder = (name: string) => join(folder.path, name);

async function lengthOf(path: string): Promise<{ seconds: number; types: string[] }> {
  using input = new Input({ source: new BlobSource(Bun.file(path)), formats: ALL_FORMATS });
  return { seconds: await input.computeDuration(), types: (await input.getTracks()).map((track) => track.type).sort() };
}

/** Returns the share of a spoken part that the plan keeps. */
function heard(plan: PlanJson, part: SpokenPart): number {
  const kept = plan.segments.map((s) => Math.max(0, Math.min(s.end, part.end) - Math.max(s.start, part.start)));
  return kept.reduce((sum, seconds) => sum + seconds, 0) / (part.end - part.start);
}

function expectTiled(plan: PlanJson) {
  const spans = [...plan.segments, ...plan.removed].sort((a, b) => a.start - b.start);
  expect(spans[0]?.start).toBe(0);
  expect(spans.at(-1)?.end).toBeCloseTo(plan.source_duration, 6);
  for (const [i, span] of spans.entries()) if (i > 0) expect(span.start).toBeCloseTo(spans[i - 1]!.end, 6);
}

/** A WAV file of nothing but zeros, 16 kHz mono. */
function silentWav(seconds: number): Uint8Array<ArrayBuffer> {
  const rate = 16_000;
  const bytes = new Uint8Array(44 + seconds * rate * 2);
  const view = new DataView(bytes.buffer);
  const text = (at: number, word: string) => bytes.set(new TextEncoder().encode(word), at);
  for (const [at, word] of [
    [0, "RIFF"],
    [8, "WAVEfmt "],
    [36, "data"],
  ] as const)
    text(at, word);
  view.setUint32(4, bytes.length - 8, true);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  view.setUint32(40, seconds * rate * 2, true);
  return bytes;
}

const names = (parts: SpokenPart[]) => parts.map((part) => `${part.kind}: ${part.text}`);

describe("a talk", () => {
  test(
    "with its script keeps one good take of every line and nothing else",
    async () => {
      const args = ["talk.mp4", "--script", "talk.script.txt", "-o", "scripted.mp4", "--plan", "plan.json"];
      const { code, stdout, stderr } = await run(args);
      expect(stderr).toContain("talk.mp4: rendering");
      expect(code).toBe(0);
      const plan = (await Bun.file(inFolder("plan.json")).json()) as PlanJson;
      expectTiled(plan);
      expect(plan.missing).toEqual([]);
      const lines = truth.parts.filter((part) => part.keep);
      expect(names(lines.filter((part) => heard(plan, part) < 1 - LOST_SHARE))).toEqual([]);
      const wrong = truth.parts.filter((part) => !part.keep && part.kind !== "filler");
      expect(names(wrong.filter((part) => heard(plan, part) > HEARD_SHARE))).toEqual([]);

      const { seconds, types } = await lengthOf(inFolder("scripted.mp4"));
      expect(types).toEqual(["audio", "video"]);
      expect(Math.abs(seconds - plan.kept_duration)).toBeLessThan(LENGTH_TOLERANCE_SECONDS);
      expect(seconds).toBeLessThan(truth.durationSeconds * 0.7);
      expect(stdout).toContain("retake");
      expect(stdout).toContain(`written: ${inFolder("scripted.mp4")}`);
    },
    TIMEOUT_MS,
  );

  once(
    "without a script loses its pauses and its retake, and goes beside the recording",
    async () => {
      const { code, stdout } = await run(["talk.mp4", "--json"]);
      expect(code).toBe(0);
      const { items } = JSON.parse(stdout) as { items: { output: string; plan: PlanJson; size_bytes: number }[] };
      const { plan, output, size_bytes } = items[0]!;
      expect(output).toBe(inFolder("talk.cut.mp4"));
      expect(Bun.file(output).size).toBe(size_bytes);
      expectTiled(plan);
      const retake = truth.parts.filter((part) => part.kind === "retake");
      expect(names(retake.filter((part) => heard(plan, part) > HEARD_SHARE))).toEqual([]);
      const lines = truth.parts.filter((part) => part.keep);
      expect(names(lines.filter((part) => heard(plan, part) < 1 - LOST_SHARE))).toEqual([]);
      expect((await lengthOf(output)).seconds).toBeCloseTo(plan.kept_duration, 0);
    },
    TIMEOUT_MS,
  );

  test(
    "becomes audio alone, and what is there already stays",
    async () => {
      const first = await run(["short.mp4", "-o", "short.mp3", "--mode", "tight"]);
      expect([first.code, (await lengthOf(inFolder("short.mp3"))).types]).toEqual([0, ["audio"]]);
      const before = await Bun.file(inFolder("short.mp3")).bytes();
      const again = await run(["short.mp4", "-o", "short.mp3"]);
      expect(again.code).toBe(2);
      expect(again.stderr).toContain("add --force to overwrite it");
      expect(await Bun.file(inFolder("short.mp3")).bytes()).toEqual(before);
    },
    TIMEOUT_MS,
  );

  once(
    "becomes a timeline and subtitles without being rendered",
    async () => {
      await Bun.write(inFolder("names.txt"), "Shelfmaster = bookshelf\n");
      const { code, stdout } = await run([
        "talk.mp4",
        "--vocabulary",
        "names.txt",
        "--export",
        "edl,otio",
        "--subtitle",
        "srt,vtt",
        "--json",
        "--force",
      ]);
      expect(code).toBe(0);
      const { items } = JSON.parse(stdout) as {
        items: { output: null; plan: PlanJson; exports: string[]; subtitles: string[] }[];
      };
      expect(await Bun.file(inFolder("talk.cut.srt")).text()).toContain("a small Shelfmaster.");
      const item = items[0]!;
      expect([item.output, item.exports, item.subtitles]).toEqual([
        null,
        ["talk.cut.edl", "talk.cut.otio"].map(inFolder),
        ["talk.cut.srt", "talk.cut.vtt"].map(inFolder),
      ]);
      const events = (await Bun.file(inFolder("talk.cut.edl")).text()).match(/^\d{3}\s/gm) ?? [];
      expect(events.length).toBeGreaterThanOrEqual(item.plan.segments.length);
      const subtitles = await Bun.file(inFolder("talk.cut.srt")).text();
      expect(subtitles).toContain("four equal pieces");
      const last = [...subtitles.matchAll(/--> 00:(\d\d):(\d\d),/g)].at(-1)!;
      expect(Number(last[1]) * 60 + Number(last[2])).toBeLessThanOrEqual(item.plan.kept_duration);
    },
    TIMEOUT_MS,
  );

  once(
    "is given up on an interrupt, and nothing is left",
    async () => {
      const before = await readdir(folder.path);
      const child = spawnOffcut(["cut", "talk.mp4", "-o", "interrupted.mp4"], { folder: folder.path });
      const text = new Response(child.stderr).text();
      await until("the work has begun", async () => (await readdir(folder.path)).length > before.length);
      child.kill("SIGINT");
      expect(await child.exited).toBe(130);
      expect(await text).toContain("interrupted");
      expect(await readdir(folder.path)).toEqual(before);
    },
    TIMEOUT_MS,
  );
});

once(
  "several recordings: each is cut, and a bad one is told without stopping the others",
  async () => {
    await Bun.write(inFolder("text.mp4"), "this is no recording, it only says so ".repeat(100));
    await copyFile(inFolder("short.mp4"), inFolder("other talk 🎬.mp4"));
    const { code, stdout, stderr } = await run(["text.mp4", "other talk 🎬.mp4", "--json", "--format", "m4a"]);
    expect(code).toBe(1);
    expect(stderr).toContain("text.mp4: File is not audio or video");
    const { items } = JSON.parse(stdout) as { items: { error?: { code: string }; output?: string }[] };
    expect(items.map((item) => item.error?.code ?? item.output)).toEqual([
      "unsupported_media",
      inFolder("other talk 🎬.cut.m4a"),
    ]);
    expect((await readdir(folder.path)).filter((name) => name.includes("text"))).toEqual(["text.mp4"]);
  },
  TIMEOUT_MS,
);

once.each([
  [["-o", "sound.mp4"], "requires video"],
  [["--export", "otio,edl"], "An EDL requires video"],
])(
  "what a recording cannot become (%j) is told before it is listened to",
  async (args, said) => {
    await Bun.write(inFolder("sound.wav"), silentWav(1));
    const { code, stderr } = await run(["sound.wav", ...args]);
    expect(code).toBe(1);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain("transcribing");
    expect((await readdir(folder.path)).filter((name) => name.includes("sound"))).toEqual(["sound.wav"]);
  },
  TIMEOUT_MS,
);

once("a wrong call is one line and exit code 2", async () => {
  const { code, stdout, stderr } = await run(["talk.mp4", "--mode", "brutal"]);
  expect([code, stdout, stderr.trimEnd().split("\n").length]).toEqual([2, "", 1]);
});
