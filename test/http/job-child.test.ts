/**
 * Preparations whose child process exceeds its memory limit or lacks ffmpeg: through the sandbox, the runner and the
 * database.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

const UNRULY = new URL("../unit/work/job-child/unruly-child.ts", import.meta.url).pathname;

test("a child that allocates without end fails the asset permanently on the first attempt", async () => {
  await using server = await harness();
  const user = await server.user();
  server.tools().jobCommand = [process.execPath, UNRULY, "allocate"];
  const asset = await user.prepared(await user.upload(await wav()));
  expect(asset).toMatchObject({ state: "failed", error_code: "corrupt_media", cuttable: false });
  expect(asset.error_message).toContain("memory");
  const { read } = server.services().store;
  expect(await read.all(sql`SELECT attempts, failures FROM steps`)).toEqual([{ attempts: 1, failures: 0 }]);
});

test("a preparation waits while ffmpeg is missing, and its recording is not called corrupt", async () => {
  await using server = await harness();
  const user = await server.user();
  const tools = server.tools();
  const { ffmpeg } = tools;
  tools.ffmpeg = { ...ffmpeg, path: "/nowhere/ffmpeg" };
  const id = await user.upload(await wav());
  await until("the missing ffmpeg in the log", () => server.log.some((line) => line.includes('"ffmpeg.missing"')));
  expect((await user.asset(id)).state).toBe("processing");
  tools.ffmpeg = ffmpeg;
  server.advance(60_000);
  server.services().runner.wake();
  expect((await user.prepared(id)).state).toBe("ready");
  const { read } = server.services().store;
  const steps = await read.all(sql`SELECT attempts, failures FROM steps WHERE processor_name = 'prepare'`);
  expect(steps).toEqual([{ attempts: 1, failures: 0 }]);
});

test("the end of another server of the process ends no job of this one", async () => {
  await using server = await harness({}, { sharesChild: true });
  const user = await server.user();
  await user.ready(await wav(2));
  await (await harness())[Symbol.asyncDispose]();
  await user.ready(await wav(2));
  expect(server.log.filter((line) => line.includes('"job.failed"'))).toEqual([]);
});
