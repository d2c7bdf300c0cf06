/** A long render that runs at two workers, over HTTP and Redis. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { REDIS_SERVER } from "../redis";
import { readFrameTimes } from "../unit/media/readback";
import { PATIENCE_MS } from "./harness";
import { makeMedia } from "./media";
import { withWorkers } from "./with-workers";

setDefaultTimeout(2 * PATIENCE_MS);

const SECONDS = 32;
const FRAME_RATE = 10;
/** Large enough that places of unknown speed are expected to take more than a second for it. */
const recording = () =>
  makeMedia(
    "large.mp4",
    ...["-f", "lavfi", "-t", String(SECONDS), "-i", `testsrc=size=800x600:rate=${FRAME_RATE}`],
    ...["-f", "lavfi", "-t", String(SECONDS), "-i", "sine=220:sample_rate=16000"],
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest"],
  );

test.skipIf(REDIS_SERVER === null)("a long render with a changed size is encoded by two workers", async () => {
  await using cluster = await withWorkers({ RENDER_JOBS: "0" });
  const { server } = cluster;
  const { store, folders, workerList } = server.services();
  const user = await server.user();
  const asset = await user.ready(await recording());
  const workers = [await cluster.addWorker("one"), await cluster.addWorker("two")];
  const started = await user.startRender({ asset_id: asset.id, output: { video_bitrate: 100_000 } });
  const render = await user.renderEnded(started.id);
  expect(render).toMatchObject({ state: "completed", strategy: "chunked", encoded_share: 1 });
  const path = folders.renderOutput(render.id, "mp4");
  expect((await Bun.file(path).stat()).size).toBe(render.size_bytes!);
  const times = await readFrameTimes(path);
  expect(times).toHaveLength(SECONDS * FRAME_RATE);
  expect(times.at(-1)).toBeCloseTo(SECONDS - 1 / FRAME_RATE, 2);
  await server.idle();

  const runs: string[][] = [];
  for (const { id } of workerList.listOnline())
    runs.push((await workerList.listRuns(id)).map(({ kind, outcome }) => `${kind} ${outcome}`));
  // A piece may have run a second time at the faster worker, until the first run ended.
  expect(
    runs
      .flat()
      .filter((run) => run !== "chunk aborted")
      .toSorted(),
  ).toEqual(["chunk completed", "chunk completed", "chunk completed", "join completed", "split completed"]);
  expect(runs.every((list) => list.includes("chunk completed"))).toBe(true);
  expect(workerList.listOnline().every(({ speed }) => speed! > 0)).toBe(true);
  expect(await store.read.all(sql`SELECT DISTINCT attempts, failures FROM steps`)).toEqual([
    { attempts: 1, failures: 0 },
  ]);
  expect(await server.events(render.id)).toEqual(["render.completed"]);
  expect(await server.leftovers("incoming")).toEqual([]);
  expect(server.errors).toEqual([]);
  for (const { log } of workers) expect(log.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
});
