/**
 * Measures the load of a worker on the network and the disk of the head, and the additional time of a short render on a
 * worker.
 */
import { join } from "node:path";
import { startCluster } from "../../e2e/cluster";
import { FIXTURES } from "../../e2e/offcut";
import { type Server, startServer } from "../../e2e/server";
import type { Client } from "../../http/client";
import { video } from "../../http/media";
import type { AssetDetail, Render } from "../../http/resources";
import { generate, videoInput } from "../../unit/media/generated-media";
import { getMedian } from "../servers";

/**
 * 1080p at 30 frames per second and 8 Mbit/s, as cameras and screen recorders write it, with the speech of the
 * demonstration.
 */
const SECONDS = 36;
const SOURCE_BITRATE = 8_000_000;
const OUTPUT_BITRATE = 4_000_000;
const SHORT_RENDERS = 10;
const PATIENCE_SECONDS = 600;
const READS = 4;

type Traffic = { sent: number; received: number };

export type TransferFigures = {
  /** Megabytes from the head to the worker and back, for each minute of the recording. */
  perMinute: Record<"prepare" | "cut" | "render", Traffic>;
  /** Minutes of the recording that the worker rendered in a minute, and how many cores it had. */
  renderSpeed: number;
  /** Megabytes a second that the head serves to clients on this machine, and that it receives and flushes. */
  readMegabytes: number;
  writeMegabytes: number;
};

export async function measureTransfer(): Promise<TransferFigures> {
  await using cluster = await startCluster({ workers: 1, head: { PREVIEWS: "on_opening" } });
  const [worker] = cluster.workers;
  const user = await cluster.head.user(1_000, PATIENCE_SECONDS);
  const bytes = await createRecording();
  const count = async <T>(work: () => Promise<T>): Promise<[Traffic, T, number]> => {
    const { to_client, to_server } = worker!.toHead.proxy!.bytes;
    const started = performance.now();
    const result = await work();
    const now = worker!.toHead.proxy!.bytes;
    const minutes = SECONDS / 60;
    const traffic = {
      sent: (now.to_client - to_client) / 1e6 / minutes,
      received: (now.to_server - to_server) / 1e6 / minutes,
    };
    return [traffic, result, (performance.now() - started) / 1000];
  };
  const uploaded = performance.now();
  const id = await user.upload(bytes, { filename: "talk.mp4" });
  const writeMegabytes = bytes.length / 1e6 / ((performance.now() - uploaded) / 1000);
  const [prepare, asset] = await count(() => user.prepared(id));
  const [cut, planned] = await count(async () => user.cutEnded((await user.startCut({ asset_id: id })).id));
  const [render, rendered, seconds] = await count(() =>
    renderToEnd(user, { asset_id: id, cut_id: planned.id, output: { video_bitrate: OUTPUT_BITRATE } }),
  );
  if (rendered.state !== "completed") throw new Error(`render is ${rendered.state}: ${rendered.error_message}`);
  return {
    perMinute: { prepare, cut, render },
    renderSpeed: SECONDS / seconds,
    readMegabytes: await measureReads(asset, bytes.length),
    writeMegabytes,
  };
}

const renderToEnd = async (user: Client, json: Record<string, unknown>): Promise<Render> =>
  user.renderEnded((await user.startRender(json)).id);

async function createRecording(): Promise<Uint8Array> {
  const speech = ["-i", join(FIXTURES, "talk.mp4"), "-map", "0:v", "-map", "1:a", "-t", String(SECONDS)];
  const encode = ["-c:v", "libx264", "-preset", "ultrafast", "-b:v", String(SOURCE_BITRATE), "-g", "60"];
  const path = await generate(
    `scale-1080p-${SECONDS}.mp4`,
    ...videoInput("30", SECONDS, "1920x1080"),
    ...[...speech, ...encode, "-c:a", "aac", "-b:a", "160k"],
  );
  return await Bun.file(path).bytes();
}

async function measureReads({ download_url }: AssetDetail, bytes: number): Promise<number> {
  const started = performance.now();
  await Promise.all(
    Array.from({ length: READS }, async () => {
      for await (const chunk of (await fetch(download_url!)).body!) void chunk;
    }),
  );
  return (READS * bytes) / 1e6 / ((performance.now() - started) / 1000);
}

/** Medians of a render of 4 s, from the request to the end, in seconds, and its bytes to the worker and back. */
export type OverheadFigures = { local: number; remote: number; bytes: number };

export async function measureOverhead(): Promise<OverheadFigures> {
  await using local = await startServer({ PREVIEWS: "on_opening", RENDER_JOBS: "1" });
  await using cluster = await startCluster({ workers: 1, head: { PREVIEWS: "on_opening" } });
  const material = await video(4);
  const open = async (server: Server) => {
    const user = await server.user(1_000, PATIENCE_SECONDS);
    return { user, asset: await user.ready(material, { filename: "film.mp4" }) };
  };
  const [here, there] = [await open(local), await open(cluster.head)];
  const time = async ({ user, asset }: typeof here, n: number) => {
    const started = performance.now();
    await renderToEnd(user, { asset_id: asset.id, output: { video_bitrate: 50_000 + n } });
    return (performance.now() - started) / 1000;
  };
  const toHead = cluster.workers[0]!.toHead.proxy!;
  const [locals, remotes]: [number[], number[]] = [[], []];
  // The first run of each fetches and extracts files that later runs reuse.
  for (const each of [here, there]) await time(each, SHORT_RENDERS);
  const before = toHead.bytes.to_client + toHead.bytes.to_server;
  for (let n = 0; n < SHORT_RENDERS; n++) {
    locals.push(await time(here, n));
    remotes.push(await time(there, n));
  }
  const bytes = (toHead.bytes.to_client + toHead.bytes.to_server - before) / SHORT_RENDERS;
  return { local: getMedian(locals), remote: getMedian(remotes), bytes };
}
