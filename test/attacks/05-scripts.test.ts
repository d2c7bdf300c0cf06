/** Scripts as long as they may be: planning them delays no request, and no other user's cut. */

import { expect, test } from "bun:test";
import { join } from "node:path";
import { FFMPEG } from "../http/media";
import { temporaryFolder } from "../temporary-folder";
import { startAttackedServer } from "./attacked-server";

const PATIENCE_MS = 120_000;
const MAX_PROBE_MS = 1_000;
const MAX_WORDS = 20_000;

const FIXTURES = join(import.meta.dir, "../fixtures");

/** As many words as a script may have: those of the recording's own script, again and again, in another order each time. */
function longestScript(spoken: string, seed: number): string {
  const words = spoken.split(/\s+/);
  let state = seed;
  return Array.from({ length: MAX_WORDS }, (_, n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return words[state % words.length]! + (n % 12 === 11 ? "\n" : "");
  })
    .join(" ")
    .slice(0, 200_000);
}

/** The limit of characters and words itself is tested in `05-script-limits.test.ts`. */
test(
  "the longest scripts are planned without delaying requests or another user's cut",
  async () => {
    await using server = await startAttackedServer();
    const [attacker, victim] = await Promise.all([server.user(), server.user()]);
    const talk = await Bun.file(join(FIXTURES, "talk.mp4")).bytes();
    const script = await Bun.file(join(FIXTURES, "talk.script.txt")).text();
    await using folder = await temporaryFolder();
    const beginning = join(folder.path, "beginning.m4a");
    const copied = Bun.spawn([
      FFMPEG,
      "-v",
      "error",
      "-i",
      join(FIXTURES, "talk.mp4"),
      "-t",
      "12",
      "-vn",
      "-c",
      "copy",
      beginning,
    ]);
    expect(await copied.exited).toBe(0);
    const short = await Bun.file(beginning).bytes();
    const [attacked, recording] = await Promise.all([attacker.ready(talk), victim.ready(short)]);
    for (const seed of [1, 2]) await attacker.startCut({ asset_id: attacked.id, script: longestScript(script, seed) });
    const own = await victim.startCut({ asset_id: recording.id });
    expect(await victim.cutEnded(own.id)).toMatchObject({ state: "completed" });
    server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
  },
  PATIENCE_MS,
);
