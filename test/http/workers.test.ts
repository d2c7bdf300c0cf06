/** A server whose cuts and renders are done by workers, over HTTP and Redis. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { REDIS_SERVER } from "../redis";
import { until } from "../until";
import { PATIENCE_MS } from "./harness";
import { silentVideo, video } from "./media";
import { withWorkers } from "./with-workers";

setDefaultTimeout(PATIENCE_MS);

const hasRedis = REDIS_SERVER !== null;

test.skipIf(!hasRedis)("cuts and renders wait for a worker, run on it and take effect once", async () => {
  await using cluster = await withWorkers({ CUT_JOBS: "0", RENDER_JOBS: "0" });
  const { server } = cluster;
  const { store, folders } = server.services();
  const user = await server.user();
  const asset = await user.ready(await video(4));
  const cut = await user.startCut({ asset_id: asset.id });
  // Another step that the server does itself ends, and the cut still waits.
  await user.ready(await video(2));
  expect((await user.cut(cut.id)).state).toBe("pending");

  const worker = await cluster.addWorker("one");
  const done = await user.cutEnded(cut.id);
  expect(done.state).toBe("completed");
  const started = await user.startRender({ asset_id: asset.id, cut_id: cut.id, output: { resolution: "144p" } });
  const render = await user.renderEnded(started.id);
  expect(render).toMatchObject({ state: "completed", strategy: "chunked" });
  expect((await Bun.file(folders.renderOutput(render.id, "mp4")).stat()).size).toBe(render.size_bytes!);
  await server.idle();

  const runs = await server.services().workerList.listRuns(server.services().workerList.listOnline()[0]!.id);
  expect(runs.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual(["render completed", "cut completed"]);
  expect(runs.map((run) => Math.round(run.media_seconds ?? 0))).toEqual([4, 4]);
  const steps = await store.read.all(sql`SELECT DISTINCT attempts, failures FROM steps`);
  expect(steps).toEqual([{ attempts: 1, failures: 0 }]);
  expect([await server.events(cut.id), await server.events(render.id)]).toEqual([
    ["cut.completed"],
    ["render.completed"],
  ]);
  expect(await server.leftovers("incoming")).toEqual([]);
  expect(server.errors).toEqual([]);
  expect(worker.log.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
});

test.skipIf(!hasRedis)(
  "while Redis is away the server works with its own slots, and afterwards with the worker",
  async () => {
    await using cluster = await withWorkers({ RENDER_JOBS: "0" });
    const { server, redis } = cluster;
    const user = await server.user();
    await cluster.addWorker("one");
    const readiness = () => server.services().cluster!.isReachable();
    await redis.kill();
    await until("a Redis that is not reachable", () => !readiness());
    const asset = await user.ready(await video(4));
    const cut = await user.startCut({ asset_id: asset.id });
    expect((await user.cutEnded(cut.id)).state).toBe("completed");
    const render = await user.startRender({ asset_id: asset.id, output: { resolution: "144p" } });
    expect((await user.render(render.id)).state).toBe("pending");
    await redis.restart();
    expect((await user.renderEnded(render.id)).state).toBe("completed");
    expect(server.errors).toEqual([]);
  },
);

test.skipIf(!hasRedis)(
  "a preparation runs on a worker, with its intermediate results and files on the server",
  async () => {
    await using cluster = await withWorkers({ PREPARE_JOBS: "0" });
    const { server } = cluster;
    const user = await server.user();
    const id = await user.upload(await silentVideo(2));
    const worker = await cluster.addWorker("one");
    const asset = await user.prepared(id);
    expect(asset).toMatchObject({ state: "ready", type: "video" });
    const { poster, filmstrip, probed } = server.services().folders.media(id);
    for (const path of [poster, filmstrip, probed]) expect(await Bun.file(path).exists()).toBe(true);
    await server.idle();
    expect(await server.leftovers("incoming")).toEqual([]);
    expect([server.errors, worker.log.filter((line) => /"level":"(warn|error)"/.test(line))]).toEqual([[], []]);
  },
);
