/** `offcut render`: a plan that was written by `cut --plan`, edited as a file, and rendered without a server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ALL_FORMATS, BlobSource, Input } from "mediabunny";
import type { PlanJson } from "../../src/domain/plan-json";
import { measureByFfmpeg } from "../ebur128";
import { fullOr } from "../full-size";
import { BUNDLED_FFMPEG } from "../http/media";
import type { TemporaryFolder } from "../temporary-folder";
import { folderWithAssets } from "./extracted-assets";
import { FIXTURES, IS_BUNDLED_PASS, runOffcut, spawnOffcut } from "./offcut";

const once = test.skipIf(IS_BUNDLED_PASS);
const TIMEOUT_MS = 120_000;
/** With all audio options: a day at full size. Its levels in steps of 10 ms take 200 MB. */
const LONG_SECONDS = fullOr(86_400, 20);
const LONG_TIMEOUT_MS = fullOr(4 * 3_600_000, TIMEOUT_MS);
const MAX_MEGABYTES = fullOr(900, 400);
/** A frame at each end, and the audio's framing. */
const LENGTH_TOLERANCE_SECONDS = 0.15;

type Result = {
  output: string | null;
  plan: PlanJson;
  warnings: string[];
  error?: { message: string; fields: object[] };
};

let folder: TemporaryFolder;
let plan: PlanJson;
const inFolder = (name: string) => join(folder.path, name);
const run = (args: string[]) => runOffcut(args, { folder: folder.path });
const writePlan = (name: string, written: unknown) => Bun.write(inFolder(name), JSON.stringify(written));
const readText = (name: string) => Bun.file(inFolder(name)).text();

beforeAll(async () => {
  folder = await folderWithAssets();
  await copyFile(join(FIXTURES, "talk.mp4"), inFolder("talk.mp4"));
  const { code, stderr } = await run([
    "cut",
    "talk.mp4",
    "--plan",
    "plan.json",
    "--subtitle",
    "srt",
    "--export",
    "otio,csv",
  ]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  plan = (await Bun.file(inFolder("plan.json")).json()) as PlanJson;
}, TIMEOUT_MS);
afterAll(() => folder[Symbol.asyncDispose]());

async function lengthOf(name: string): Promise<{ seconds: number; types: string[] }> {
  using input = new Input({ source: new BlobSource(Bun.file(inFolder(name))), formats: ALL_FORMATS });
  return { seconds: await input.computeDuration(), types: (await input.getTracks()).map((track) => track.type).sort() };
}

async function render(args: string[]): Promise<{ code: number | null; stderr: string; item: Result }> {
  const { code, stdout, stderr } = await run(["render", ...args, "--json"]);
  return { code, stderr, item: (JSON.parse(stdout) as { items: Result[] }).items[0]! };
}

test(
  "an unchanged plan makes the same cut, and nothing is transcribed for it",
  async () => {
    const { code, stderr, item } = await render(["talk.mp4", "--plan", "plan.json"]);
    expect([code, stderr]).toEqual([0, "talk.mp4: probing\ntalk.mp4: rendering\n"]);
    expect(item).toMatchObject({ output: inFolder("talk.cut.mp4"), plan, warnings: [] });
    const { seconds, types } = await lengthOf("talk.cut.mp4");
    expect(types).toEqual(["audio", "video"]);
    expect(Math.abs(seconds - plan.kept_duration)).toBeLessThan(LENGTH_TOLERANCE_SECONDS);
  },
  TIMEOUT_MS,
);

once(
  "its timelines and subtitles are those of the cut",
  async () => {
    const before = await Promise.all(["talk.cut.srt", "talk.cut.otio", "talk.cut.csv"].map(readText));
    const outputs = ["--subtitle", "srt", "--export", "otio,csv", "-o", "again.mp3"];
    const { code, item } = await render(["talk.mp4", "--plan", "plan.json", ...outputs]);
    expect([code, item.output]).toEqual([0, inFolder("again.mp3")]);
    const after = await Promise.all(["again.srt", "again.otio", "again.csv"].map(readText));
    expect(after).toEqual(before);
    expect((await lengthOf("again.mp3")).types).toEqual(["audio"]);

    // A recording without video, and a plan with nothing but segments.
    await writePlan("bare.json", {
      segments: [
        { start: 1, end: 2.5 },
        { start: 3, end: 4 },
      ],
    });
    const { item: bare } = await render(["again.mp3", "--plan", "bare.json"]);
    expect([bare.output, bare.plan.kept_duration]).toEqual([inFolder("again.cut.m4a"), 2.5]);
    expect(Math.abs((await lengthOf("again.cut.m4a")).seconds - 2.5)).toBeLessThan(LENGTH_TOLERANCE_SECONDS);
  },
  TIMEOUT_MS,
);

once(
  "an edited plan, here inside a cut of the API, sets what is kept and what its texts say",
  async () => {
    const [first, second, ...others] = plan.segments;
    const edited = {
      ...plan,
      segments: [
        { ...first!, text: first!.text.replace("workshop", "laboratory") },
        // Ends between two frames, and is rounded up.
        { ...second!, end: second!.start + 1.001, text: "Corrected by hand." },
        ...others.slice(1),
      ],
    };
    await writePlan("edited.json", { id: "a cut", state: "completed", plan: edited });
    const outputs = ["--subtitle", "srt", "--export", "otio", "-o", "edited.mp4"];
    const { code, item } = await render(["talk.mp4", "--plan", "edited.json", ...outputs]);
    expect(code).toBe(0);
    expect(item.plan.segments.length).toBe(plan.segments.length - 1);
    const shortened = item.plan.segments[1]!;
    expect(shortened.start).toBe(second!.start);
    expect(shortened.end - shortened.start - 1.001).toBeGreaterThanOrEqual(0);
    expect(shortened.end - shortened.start - 1.001).toBeLessThan(1 / 15);
    expect(item.plan.removed.filter(({ rule }) => rule === "manual.edit").length).toBe(2);
    expect(Math.abs((await lengthOf("edited.mp4")).seconds - item.plan.kept_duration)).toBeLessThan(
      LENGTH_TOLERANCE_SECONDS,
    );
    for (const name of ["edited.srt", "edited.otio"]) {
      expect(await readText(name)).toContain("laboratory");
      expect(await readText(name)).toContain("Corrected by hand.");
      expect(await readText(name)).not.toContain("workshop");
    }
  },
  TIMEOUT_MS,
);

once(
  `${LONG_SECONDS} s with all audio options have the loudness, without a transcription and in little memory`,
  async () => {
    const repeats = ["-stream_loop", "-1", "-i", inFolder("talk.mp4"), "-t", String(LONG_SECONDS)];
    const { exited } = Bun.spawn(
      [BUNDLED_FFMPEG, "-v", "error", ...repeats, "-map", "0:a", "-c", "copy", inFolder("long.m4a")],
      { stderr: "inherit" },
    );
    expect(await exited).toBe(0);
    await writePlan("long.json", { segments: [{ start: 0, end: LONG_SECONDS - 1 }] });
    const audio = ["--loudness", "-16", "--noise-reduction", "light", "--level-speakers"];
    const child = spawnOffcut(["render", "long.m4a", "--plan", "long.json", ...audio], { folder: folder.path });
    const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    expect([code, stderr]).toEqual([0, "long.m4a: probing\nlong.m4a: extracting\nlong.m4a: rendering\n"]);
    const { integrated, peak } = await measureByFfmpeg(BUNDLED_FFMPEG, inFolder("long.cut.m4a"));
    expect([Math.abs(integrated! + 16) <= 0.3, peak! <= -1]).toEqual([true, true]);
    expect(Math.abs((await lengthOf("long.cut.m4a")).seconds - LONG_SECONDS + 1)).toBeLessThan(0.2);
    // Memory of the largest process. One that starts counts the peak of the process that starts it.
    const own = (process.resourceUsage().maxRSS * 1024) / 1e6;
    expect(child.resourceUsage()!.maxRSS / 1e6).toBeLessThan(Math.max(MAX_MEGABYTES, own + 1));
  },
  LONG_TIMEOUT_MS,
);

describe("an invalid plan is reported and writes nothing:", () => {
  const cases: [string, (valid: PlanJson) => unknown, string][] = [
    [
      "a time in quotes",
      (valid) => ({ ...valid, segments: [{ ...valid.segments[0], start: "1" }] }),
      'segments[0].start must be a number of seconds, not "1"',
    ],
    [
      "segments out of order",
      (valid) => ({ ...valid, segments: valid.segments.toReversed() }),
      "segments[1] must not start before the previous segment ends",
    ],
    [
      "another recording",
      (valid) => ({ ...valid, source_duration: 3 }),
      "source_duration is 3 s, but the recording has ",
    ],
  ];
  once.each(cases)(
    "%s",
    async (_, change, message) => {
      await writePlan("wrong.json", change(plan));
      const before = await readdir(folder.path);
      const outputs = ["--subtitle", "srt", "--export", "edl", "-o", "wrong.mp4"];
      const { code, stderr, item } = await render(["talk.mp4", "--plan", "wrong.json", ...outputs]);
      expect(code).toBe(1);
      expect(stderr).toContain(`offcut render: talk.mp4: plan wrong.json: ${message}`);
      expect(stderr).not.toContain("transcribing");
      expect(item.error).toMatchObject({ code: "validation_error", fields: expect.any(Array) });
      expect(await readdir(folder.path)).toEqual(before);
    },
    TIMEOUT_MS,
  );
});

once("a wrong call is one line and exit code 2, and help lists the command", async () => {
  const { code, stdout, stderr } = await run(["render", "talk.mp4", "--plan", "none.json"]);
  expect([code, stdout, stderr]).toEqual([2, "", "offcut render: plan not found: none.json\n"]);
  expect((await run(["--help"])).stdout).toContain("render FILE");
  expect((await run(["render", "--help"])).stdout).toContain("offcut render FILE --plan PLAN.json");
});
