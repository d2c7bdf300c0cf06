/**
 * Scripts that are short to send and long to compare: one character becomes eighteen and four words. Scripts as long as
 * they may be: planning them delays no request, and no other user's cut.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { FIXTURES, runOffcut } from "../e2e/offcut";
import type { Client } from "../http/client";
import { makeMedia, wav } from "../http/media";
import { outcome } from "../http/outcome";
import { type AttackedServer, startAttackedServer } from "./attacked-server";

let server: AttackedServer;
let user: Client;
let assetId: string;
beforeAll(async () => {
  server = await startAttackedServer();
  user = await server.user();
  assetId = (await user.ready(await wav(2))).id;
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const REFUSED = "422 validation_error body.script";
const SCRIPTS: [string, string][] = [
  ["one word of 330,000 U+FDFA", "\ufdfa".repeat(330_000)],
  ["words of U+FDFA", "\ufdfa ".repeat(20_000)],
  ["one word of letters that become four", "\ufdf2".repeat(300_000)],
  ["one word of 900,000 letters", "x".repeat(900_000)],
  ["20,001 words", "word ".repeat(20_001)],
  ["a number of 200,000 digits", "7".repeat(200_000)],
];

test.each(SCRIPTS)(
  "%s is refused at once, 12 times",
  async (_, script) => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => user.call("POST", "/v1/cuts", { json: { asset_id: assetId, script } })),
    );
    for (const reply of replies) expect(outcome(reply)).toBe(REFUSED);
    server.expectUnharmed({ maxProbeMs: 1000 });
  },
  30_000,
);

test("the longest scripts are accepted, and delay no other user", async () => {
  const scripts = ["word ".repeat(20_000), "x".repeat(200_000), `${"y".repeat(100_000)} ${"z".repeat(99_999)}`];
  for (const script of scripts) {
    const reply = await user.call("POST", "/v1/cuts", { json: { asset_id: assetId, script } });
    expect(reply.status).toBe(201);
  }
  server.expectUnharmed({ maxProbeMs: 1000 });
}, 30_000);

test("offcut cut --script has the same limits", async () => {
  const recording = join(server.folder, "take.wav");
  await Bun.write(recording, await wav(2));
  for (const [name, script] of SCRIPTS.slice(0, 2)) {
    const path = join(server.folder, "script.txt");
    await Bun.write(path, script);
    const run = await runOffcut(["cut", recording, "--script", path], { folder: server.folder });
    expect([name, run.code]).toEqual([name, 2]);
    expect(run.stderr).toContain("must have at most");
  }
}, 30_000);

const MAX_WORDS = 20_000;
const MAX_CHARACTERS = 200_000;

/** The beginning of the talk, as audio. */
const beginning = (seconds: number) =>
  makeMedia("talk.m4a", "-i", join(FIXTURES, "talk.mp4"), "-t", String(seconds), "-vn", "-c", "copy");

/**
 * Returns a script with the maximum number of words: those of the recording's own script, repeated in a different order
 * each time.
 */
function longestScript(spoken: string, seed: number): string {
  const words = spoken.split(/\s+/);
  let state = seed;
  return Array.from({ length: MAX_WORDS }, (_, n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return words[state % words.length]! + (n % 12 === 11 ? "\n" : "");
  })
    .join(" ")
    .slice(0, MAX_CHARACTERS);
}

test("the longest scripts are planned without delaying requests or another user's cut", async () => {
  const victim = await server.user();
  const script = await Bun.file(join(FIXTURES, "talk.script.txt")).text();
  // 25 s of speech against such a script take more than 3 s to plan.
  const [attacked, recording] = await Promise.all([user.ready(await beginning(25)), victim.ready(await beginning(8))]);
  for (const seed of [1, 2]) await user.startCut({ asset_id: attacked.id, script: longestScript(script, seed) });
  const own = await victim.startCut({ asset_id: recording.id });
  expect(await victim.cutEnded(own.id)).toMatchObject({ state: "completed" });
  server.expectUnharmed({ maxProbeMs: 1_000 });
}, 120_000);
