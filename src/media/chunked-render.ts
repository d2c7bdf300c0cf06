/** Encodes the chunks of a chunked render. */
import { createChunkNames, findZscale } from "./chunked-plan";
import { type ChunkSettings, type ChunkTask, encodeChunk } from "./chunks/encode";
import { type EncoderLimits, encodeLocally } from "./chunks/local";
import type { Ffmpeg } from "./ffmpeg";
import type { PacketSource } from "./packets/source";
import type { RenderCache } from "./render-cache/cache-file";
import { getSourceVersion } from "./source-version";

export type RenderTools = EncoderLimits & {
  ffmpeg: Ffmpeg;
  log?: ((event: string, fields: object) => void) | undefined;
  /** What earlier renders of the recording have encoded. Only smart renders have one. */
  cache?: RenderCache | undefined;
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
  const names = createChunkNames(plan, { ffmpeg, hasZscale, source });
  let repaired = 0;
  const encoded = await encodeLocally({
    ...tools,
    chunks: tasks.map((task, n) => ({ name: names[n]!, frames: task.frameCount, task })),
    workDir,
    onFrames,
    encode: async ({ task }, target) => {
      const result = await encodeChunk({ ffmpeg, hasZscale, settings, packetSource, task, ...target });
      if (result.repaired) repaired++;
    },
  });
  return { ...encoded, repaired };
}
