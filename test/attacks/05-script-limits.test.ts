/** Scripts that are short to send and long to compare: one character becomes eighteen and four words. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { runOffcut } from "../e2e/offcut";
import type { Client } from "../http/client";
import { wav } from "../http/media";
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

test("the longest scripts are taken, and delay nobody", async () => {
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
