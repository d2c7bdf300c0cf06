/** Recordings that are deleted while a worker prepares and cuts them: it stops, and neither machine keeps anything. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { REDIS_SERVER } from "../redis";
import { until } from "../until";
import { PATIENCE_MS } from "./harness";
import { silentVideo, video } from "./media";
import { type HarnessWithWorkers, type TestWorker, withWorkers } from "./with-workers";

setDefaultTimeout(PATIENCE_MS);

const hasRedis = REDIS_SERVER !== null;
const started = (worker: TestWorker, kind: string) =>
  until(`the ${kind}`, () =>
    worker.log.some((line) => line.includes('"execution.started"') && line.includes(`"kind":"${kind}"`)),
  );
/** Waits until neither machine has a file of the recording. */
async function expectNothingLeft({ server }: HarnessWithWorkers, worker: TestWorker, asset: string): Promise<void> {
  await until("no copies on the worker", async () => {
    const folders = await Promise.all(["cache", "work"].map((name) => readdir(join(worker.dataDir, name))));
    return folders.flat().every((name) => !name.startsWith(asset));
  });
  await server.idle();
  expect(await server.leftovers(asset)).toEqual([]);
  expect(await server.leftovers("incoming")).toEqual([]);
}

test.skipIf(!hasRedis)(
  "a recording is deleted while a worker prepares it, which was not the one with the full disk",
  async () => {
    await using cluster = await withWorkers({ PREPARE_JOBS: "0" });
    const { server } = cluster;
    const user = await server.user();
    // Its disk is full up to the reserve, so it receives no executions.
    const full = await cluster.addWorker("full", { DISK_RESERVE_BYTES: String(2 ** 50) });
    const worker = await cluster.addWorker("one");
    const id = await user.upload(await silentVideo(2));
    await started(worker, "prepare");
    expect(full.log.filter((line) => line.includes('"execution.started"'))).toEqual([]);
    await user.must("DELETE", `/v1/assets/${id}`);
    await expectNothingLeft(cluster, worker, id);
    expect(server.errors).toEqual([]);
  },
);

test.skipIf(!hasRedis)("a recording is deleted while a worker cuts it", async () => {
  await using cluster = await withWorkers({ CUT_JOBS: "0", CUT_STEP_CREDITS: "2" });
  const { server } = cluster;
  const user = await server.user(1_000);
  const worker = await cluster.addWorker("one");
  const talk = await user.ready(await video(4));
  await user.startCut({ asset_id: talk.id });
  await started(worker, "cut");
  await user.must("DELETE", `/v1/assets/${talk.id}`);
  await expectNothingLeft(cluster, worker, talk.id);
  expect(await server.services().store.read.all(sql`SELECT * FROM holds`)).toEqual([]);
  expect(server.errors).toEqual([]);
});

test.skipIf(!hasRedis)("a render is cancelled while a worker runs it: the worker keeps no work folder", async () => {
  await using cluster = await withWorkers({ RENDER_JOBS: "0" });
  const { server } = cluster;
  const user = await server.user();
  const worker = await cluster.addWorker("one");
  const asset = await user.ready(await video(60));
  const render = await user.startRender({ asset_id: asset.id, output: { resolution: "144p" } });
  const listWork = () => readdir(join(worker.dataDir, "work"));
  await until("a work folder", async () => (await listWork()).length > 0);
  await user.must("POST", `/v1/renders/${render.id}/cancel`);
  // It is logged after the removal.
  await until("the removal", () => worker.log.some((line) => line.includes('"work_folders.removed"')));
  expect(await listWork()).toEqual([]);
  expect(server.errors).toEqual([]);
});
