/**
 * A long talk through the real recognizer: three minutes here, an hour with `OFFCUT_FULL=1`. Prints its speed next to
 * that of a short one.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { PlanJson } from "../../src/domain/plan-json";
import { fullOr } from "../full-size";
import { folderWithAssets } from "./extracted-assets";
import { FIXTURES, HAS_SYSTEM_FFMPEG, IS_BUNDLED_PASS, runOffcut } from "./offcut";

const MINUTES = fullOr(60, 3);
const TALK = join(FIXTURES, "talk.mp4");

/** The audio of the talk, repeated to this length. */
function repeated(folder: string, minutes: number): string {
  const path = join(folder, `talk-${minutes}.wav`);
  const made = Bun.spawnSync(
    [
      "ffmpeg",
      "-v",
      "error",
      "-y",
      "-stream_loop",
      "-1",
      "-i",
      TALK,
      "-t",
      String(minutes * 60),
      "-vn",
      "-ac",
      "1",
      "-ar",
      "16000",
      path,
    ],
    { env: { PATH: "/usr/bin:/bin" } },
  );
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  return path;
}

async function cut(
  folder: string,
  path: string,
): Promise<{ plan: PlanJson; srt: string; speed: number; recognizedAgain: string }> {
  const planFile = `${path}.plan.json`;
  const started = performance.now();
  const run = await runOffcut(["cut", path, "--plan", planFile, "--subtitle", "srt", "--explain"], { folder });
  expect(run).toMatchObject({ code: 0 });
  const elapsedMs = performance.now() - started;
  const plan = (await Bun.file(planFile).json()) as PlanJson;
  const speed = plan.source_duration / (elapsedMs / 1000);
  const srt = await Bun.file(path.replace(/\.wav$/, ".cut.srt")).text();
  const recognizedAgain = /^Recognized .*$/m.exec(run.stdout)?.[0] ?? "Recognized nothing a second time.";
  return { plan, srt, speed, recognizedAgain };
}

test.skipIf(IS_BUNDLED_PASS || !HAS_SYSTEM_FFMPEG)(
  `${MINUTES} minutes of talk become a transcript, a cut and subtitles, as fast a minute as a short talk`,
  async () => {
    await using folder = await folderWithAssets();
    const short = await cut(folder.path, repeated(folder.path, 1));
    const long = await cut(folder.path, repeated(folder.path, MINUTES));

    const words = (plan: PlanJson) =>
      [...plan.segments, ...plan.removed].flatMap((s) => s.text.split(/\s+/).filter(Boolean)).length;
    expect(Math.abs(long.plan.source_duration - MINUTES * 60)).toBeLessThan(MINUTES / 10);
    expect(words(long.plan)).toBeGreaterThan(words(short.plan) * MINUTES * 0.85);
    expect(long.plan.kept_duration).toBeGreaterThan(MINUTES * 60 * 0.2);
    const times = [...long.srt.matchAll(/^(\d+):(\d+):(\d+),(\d+) --> /gm)].map(
      ([, h, m, s, ms]) => Number(h) * 3600 + Number(m) * 60 + Number(s) + Number(ms) / 1000,
    );
    expect(times.length).toBeGreaterThan(MINUTES * 4);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times.at(-1)!).toBeLessThanOrEqual(long.plan.kept_duration);
    console.log(long.recognizedAgain);
    console.log(`times real time: ${short.speed.toFixed(1)} over 1 minute, ${long.speed.toFixed(1)} over ${MINUTES}`);
  },
  900_000,
);
