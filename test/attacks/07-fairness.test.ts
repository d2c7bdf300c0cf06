/**
 * Users who fill the server with recordings of twelve hours, long speech and many cuts do not delay another user's
 * small ones.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { FIXTURES } from "../e2e/offcut";
import type { Client } from "../http/client";
import { FFMPEG } from "../http/media";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { startAttackedServer } from "./attacked-server";
import { silentFlac } from "./silent-flac";

const TALK = join(FIXTURES, "talk.mp4");
const LONG_HOURS = 12;
const MAX_READY_MS = 10_000;
const MAX_PROBE_MS = 500;
/** Once a preparation is this far it recognizes speech. */
const RECOGNIZING = 0.16;
const PATIENCE_SECONDS = 60;

async function ffmpeg(...args: string[]): Promise<void> {
  const child = Bun.spawn([FFMPEG, "-v", "error", ...args], { stdin: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
}

/** Makes a recording by repeating one of AAC, which is copied. */
async function repeated(unit: string, path: string, hours: number): Promise<Bun.BunFile> {
  await ffmpeg("-stream_loop", "-1", "-i", unit, "-t", String(hours * 3600), "-c", "copy", path);
  return Bun.file(path);
}

async function upload(user: Client, file: Blob): Promise<string> {
  const { id } = await user.open(file.size);
  expect((await user.patch(id, 0, file)).status).toBe(204);
  return id;
}

test("two recordings of twelve hours, long speech and many cuts of others: two seconds are ready, and cut, within 10 s", async () => {
  await using folder = await temporaryFolder();
  const short = join(folder.path, "short.wav");
  const unit = join(folder.path, "unit.m4a");
  // At 8 kHz an hour has half as many packets to copy as at 16.
  await ffmpeg("-i", TALK, "-vn", "-ac", "1", "-ar", "8000", "-c:a", "aac", "-b:a", "8k", unit);
  const [talk, longTalk] = await Promise.all([
    repeated(unit, join(folder.path, "talk.m4a"), LONG_HOURS),
    repeated(unit, join(folder.path, "long-talk.m4a"), 0.25),
    ffmpeg("-t", "2", "-i", TALK, "-vn", "-ac", "1", short),
  ]);
  const silent = new Blob([silentFlac(LONG_HOURS * 3600)]);
  const script = await Bun.file(join(FIXTURES, "talk.script.txt")).text();

  await using server = await startAttackedServer();
  const [busy, talker, visitor] = await Promise.all([1, 2, 3].map(() => server.user(10_000, PATIENCE_SECONDS)));
  const talks = await talker!.ready(await Bun.file(TALK).bytes());
  const speech = await upload(talker!, longTalk);
  const recordings = [await upload(busy!, silent), await upload(busy!, talk)];
  await until(
    "speech that is recognized",
    async () => ((await talker!.asset(speech)).progress ?? 0) > RECOGNIZING,
    PATIENCE_SECONDS,
  );

  const uploadedAt = performance.now();
  const asset = await visitor!.ready(await Bun.file(short).bytes());
  expect(performance.now() - uploadedAt).toBeLessThan(MAX_READY_MS);
  for (const id of recordings) expect((await busy!.asset(id)).state).toBe("processing");
  expect((await talker!.asset(speech)).state).toBe("processing");

  const cuts = await Promise.all(
    [2, 3, 4, 5, 6, 7].map((times) => talker!.startCut({ asset_id: talks.id, script: script.repeat(times) })),
  );
  await until("cuts that are planned", async () => (await talker!.cut(cuts[1]!.id)).state === "processing");
  const askedAt = performance.now();
  const cut = await visitor!.cutEnded((await visitor!.startCut({ asset_id: asset.id })).id);
  expect(performance.now() - askedAt).toBeLessThan(MAX_READY_MS);
  expect(cut.state).toBe("completed");
  const ended = await Promise.all(cuts.map(async ({ id }) => (await talker!.cut(id)).state === "completed"));
  expect(ended).toContain(false);
  server.expectUnharmed({ maxProbeMs: MAX_PROBE_MS });
}, 120_000);
