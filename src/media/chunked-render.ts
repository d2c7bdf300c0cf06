/** Encodes the chunks of a render in parallel. An interrupted render resumes from the chunks that it finished. */
import { join } from "node:path";
import type { Semaphore } from "../lib/semaphore";
import { createChunkNames, findZscale } from "./chunked-plan";
import { type ChunkSettings, type ChunkTask, encodeChunk } from "./chunks/encode";
import type { VideoEncoder } from "./encoder-arguments";
import type { Ffmpeg } from "./ffmpeg";
import type { PacketSource } from "./packets/source";
import { runParallel } from "./parallel";
import { getSourceVersion } from "./source-version";

export type RenderTools = {
  ffmpeg: Ffmpeg;
  encoder: VideoEncoder;
  /** Maximum number of chunks that are encoded at the same time. */
  maxProcesses: number;
  signal?: AbortSignal | undefined;
  /** Polled between two chunks. If true, the render ends with `RenderYielded`, and a later call resumes it. */
  shouldYield?: (() => boolean) | undefined;
  /** Shared by all renders of this server. Without it, `maxProcesses` is the only bound. */
  encoderSemaphore?: Semaphore | undefined;
  log?: ((event: string, fields: object) => void) | undefined;
  /** Called when a process has encoded frames of video, with the time that this took. */
  onEncoded?: ((frames: number, seconds: number) => void) | undefined;
};

export type EncodedChunks = {
  /** Files in the order of the tasks. */
  paths: string[];
  /** Number of chunks with frames that could not be decoded. */
  repaired: number;
  /** Number of chunks that were already in the work folder. */
  reused: number;
};

/** Encodes every chunk that is not in the work folder yet. Errors: those of `encodeChunk`. */
export async function encodeChunks(
  plan: { settings: ChunkSettings; tasks: readonly ChunkTask[] },
  workDir: string,
  tools: RenderTools,
  packetSource: PacketSource | null,
  onFrames: (frames: number) => void,
): Promise<EncodedChunks> {
  const { tasks, settings } = plan;
  const { ffmpeg } = tools;
  const hasZscale = await findZscale(settings, ffmpeg);
  const source = await getSourceVersion(settings.sourcePath);
  const paths = createChunkNames(plan, { ffmpeg, hasZscale, source }).map((name) => join(workDir, name));
  const done = new Float64Array(tasks.length);
  let total = 0;
  let repaired = 0;
  let reused = 0;
  const report = (n: number, frames: number) => {
    const now = Math.max(done[n]!, Math.min(frames, tasks[n]!.frameCount));
    total += now - done[n]!;
    done[n] = now;
    onFrames(total);
  };
  await runParallel(
    tasks.length,
    tools.maxProcesses,
    tools.signal,
    async (n, signal) => {
      const task = tasks[n]!;
      const path = paths[n]!;
      if (await Bun.file(path).exists()) reused++;
      else {
        const encode = async () => {
          const startedMs = performance.now();
          const encoded = await encodeChunk({
            ffmpeg,
            hasZscale,
            settings,
            task,
            path,
            packetSource,
            signal,
            onFrames: (frames) => report(n, frames),
          });
          tools.onEncoded?.(task.frameCount, (performance.now() - startedMs) / 1000);
          return encoded;
        };
        const result = await (tools.encoderSemaphore?.run(signal, encode) ?? encode());
        if (result.repaired) repaired++;
      }
      report(n, task.frameCount);
    },
    tools.shouldYield,
  );
  return { paths, repaired, reused };
}
