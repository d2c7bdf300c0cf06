/** The speed of a worker after whole renders, with a fake worker that reports arbitrary results. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { REDIS_SERVER } from "../redis";
import { until } from "../until";
import { callWorkers, executionPath, joinAsWorker } from "../worker-client";
import { PATIENCE_MS } from "./harness";
import { video } from "./media";
import { withWorkers } from "./with-workers";

setDefaultTimeout(PATIENCE_MS);

const FRAMES = 80;
/** Assumed for outputs that keep the rate of the source. */
const RATE = 30;

test.skipIf(REDIS_SERVER === null)("a whole render measures its worker, by the head's clock", async () => {
  await using cluster = await withWorkers({ RENDER_JOBS: "0", PREVIEWS: "on_opening" });
  const { server, redis } = cluster;
  const user = await server.user();
  const film = new Uint8Array(await video(8));
  const asset = await user.ready(film);
  const worker = await joinAsWorker(server.url, await cluster.createToken("one"), { slots: 1 });
  const seen: string[] = [];
  const heartbeats = setInterval(() => void worker.heartbeat(seen.slice(-1)).catch(() => {}), 1_000);
  using _ = { [Symbol.dispose]: () => clearInterval(heartbeats) };
  const readSpeed = () => server.services().workerList.listOnline()[0]!.speed;

  /**
   * Sends the recording as the render, with these facts. Returns the seconds that the head may have measured at least.
   */
  async function render(output: object, more: object = {}): Promise<number> {
    const { id } = await user.startRender({ asset_id: asset.id, output });
    const ticket = await worker.ticket(redis, seen);
    seen.push(ticket.execution);
    const started = performance.now();
    await worker.start(ticket);
    const headers = {
      "Content-Type": "application/offset+octet-stream",
      "Upload-Offset": "0",
      "Upload-Length": String(film.length),
    };
    await callWorkers(server.url(), "PATCH", executionPath(ticket, "outputs", "output.mp4"), { body: film, headers });
    const sha256 = new Bun.CryptoHasher("sha256").update(film).digest("hex");
    const facts = { strategy: "chunked", encodedShare: 1, reasons: [], warnings: [], ...more };
    const json = { status: "completed", output: facts, files: [{ name: "output.mp4", bytes: film.length, sha256 }] };
    const seconds = (performance.now() - started) / 1000;
    const { status } = await callWorkers(server.url(), "POST", executionPath(ticket, "result"), { json });
    expect([status, (await user.renderEnded(id)).state]).toEqual([204, "completed"]);
    return seconds;
  }

  const seconds = await render({ video_bitrate: 50_000 });
  const measured = readSpeed()!;
  expect(measured).toBeGreaterThan(0);
  expect(measured).toBeLessThanOrEqual(FRAMES / seconds / RATE);
  // Figures of its own have no effect.
  const later = await render({ video_bitrate: 50_001 }, { encoding: { frames: 1e12, seconds: 1, processes: 4_096 } });
  const believed = readSpeed()!;
  expect(believed).toBeLessThanOrEqual(Math.max(measured, FRAMES / later / RATE));
  // Packets may have been copied.
  await render({}, { encodedShare: 0 });
  expect(readSpeed()).toBe(believed);
  for (const wrong of [{ encodedShare: 2 }, { reasons: "none" }]) {
    const { id } = await user.startRender({ asset_id: asset.id, output: { video_bitrate: 50_002 } });
    const ticket = await worker.ticket(redis, seen);
    seen.push(ticket.execution);
    await worker.start(ticket);
    const facts = { strategy: "chunked", encodedShare: 1, reasons: [], warnings: [], ...wrong };
    const json = { status: "completed", output: facts, files: [] };
    await callWorkers(server.url(), "POST", executionPath(ticket, "result"), { json });
    expect((await user.render(id)).state).not.toBe("completed");
    await user.must("DELETE", `/v1/renders/${id}`);
    // Another worker is chosen before this one.
    await until(
      "distrust of the worker",
      () => server.services().cluster!.executions.trouble.rank(worker.workerId, "another step") === 1,
    );
  }
  expect(readSpeed()).toBe(believed);
});
