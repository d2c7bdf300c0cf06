/** A worker that two users share, and that is drained, resumed and revoked while they render and delete. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { fullOr, isFullSize } from "../full-size";
import { REDIS_SERVER } from "../redis";
import { until } from "../until";
import { createAdmin, startSession } from "./accounts";
import { PATIENCE_MS } from "./harness";
import { longVideo, silentVideo } from "./media";
import { type TestWorker, withWorkers } from "./with-workers";

setDefaultTimeout(PATIENCE_MS);

const TIME_SLICE_MS = 300;
/** In CI the machine may be busy with other tests. */
const MAX_ABORT_MS = fullOr(2_000, 15_000);

const list = (worker: TestWorker, folder: string) => readdir(join(worker.dataDir, folder));

test.skipIf(REDIS_SERVER === null)(
  "the only worker is drained, resumed, shared by two users, freed by deletions, and revoked",
  async () => {
    await using cluster = await withWorkers(
      { RENDER_JOBS: "0", RENDER_STEP_CREDITS: "3" },
      { timeSliceMs: TIME_SLICE_MS },
    );
    const { server, redis } = cluster;
    const { workerList } = server.services();
    const admin = await startSession(server, await createAdmin(server));
    const [anna, bob] = [await server.user(), await server.user()];
    const long = await anna.ready(await longVideo());
    const short = await bob.ready(await silentVideo(2));
    const first = await cluster.addWorker("first");
    const { id } = workerList.listOnline()[0]!;
    const change = (action: string) => admin.must("POST", `/api/v1/admin/workers/${id}/${action}`);
    const render = (video_bitrate: number) => bob.startRender({ asset_id: short.id, output: { video_bitrate } });
    const listOutcomes = async (render: { id: string }) =>
      (await workerList.listRuns(id)).filter((run) => run.subject_id === render.id).map(({ outcome }) => outcome);
    const countStarts = () => first.log.filter((line) => line.includes('"execution.started"')).length;

    await change("drain");
    const waiting = await render(50_000);
    await until("nobody for it", () => server.log.some((line) => line.includes('"job.no_machine"')));
    expect([(await bob.render(waiting.id)).state, countStarts()]).toEqual(["pending", 0]);
    await change("resume");
    expect((await bob.renderEnded(waiting.id)).state).toBe("completed");

    const film = await anna.startRender({ asset_id: long.id, output: { video_bitrate: 100_000 } });
    await until("the film", () => countStarts() === 2);
    const other = await render(60_000);
    expect((await bob.renderEnded(other.id)).state).toBe("completed");
    await until("the film again", async () => countStarts() > (await workerList.listRuns(id)).length);
    expect(new Set(await listOutcomes(film))).toEqual(new Set(["yielded"]));
    // On a busy machine this one takes longer than its time too, and yields in turn.
    const [last, ...earlier] = await listOutcomes(other);
    expect([last, earlier.every((outcome) => outcome === "yielded")]).toEqual(["completed", true]);

    await anna.must("DELETE", `/v1/renders/${film.id}`);
    const deletedAt = performance.now();
    await until("the abort", () => first.log.some((line) => line.includes('"execution.dropped"')));
    expect(performance.now() - deletedAt).toBeLessThan(MAX_ABORT_MS);
    // The cancelled render leaves no chunks, and the recording still exists.
    await until("no chunks", async () => (await list(first, "work")).length === 0);
    expect(await list(first, "cache")).not.toEqual([]);
    expect(await server.leftovers(film.id)).toEqual([]);

    const started = countStarts();
    if (isFullSize) await anna.startRender({ asset_id: long.id, output: { video_bitrate: 110_000 } });
    if (isFullSize) await until("the next film", () => countStarts() > started);
    await change("revoke");
    expect(await first.worker.ended).toMatchObject({ kind: "refused", isFinal: true });
    await until("no queue", async () => (await redis.client.keys(`bull:offcut-worker-${id}*`)).length === 0);
    if (isFullSize) {
      const second = await cluster.addWorker("second");
      await until("the next film there", () => second.log.some((line) => line.includes('"execution.started"')));
    }
    await anna.must("DELETE", `/v1/projects/${long.project_id}`);
    await server.idle();
    expect(await server.leftovers(long.id)).toEqual([]);
    expect((await fetch(long.download_url!)).status).toBe(404);
    // Two renders of Bob: nothing of Anna was completed.
    const { store } = server.services();
    expect(await store.read.all(sql`SELECT * FROM holds`)).toEqual([]);
    expect(await store.read.all(sql`SELECT delta FROM ledger WHERE type = 'consume_step'`)).toEqual([
      { delta: -3 },
      { delta: -3 },
    ]);
    expect(server.errors).toEqual([]);
  },
);
