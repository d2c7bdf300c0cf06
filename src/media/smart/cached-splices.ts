/** Finds the segments of a smart render that an earlier render has encoded, and stores those that it encodes. */
import type { ProbedMedia } from "../../domain/media";
import type { SpliceSegment } from "../../domain/smart-plan";
import type { Ffmpeg } from "../ffmpeg";
import { isSameBytes } from "../packets/bits";
import { SpliceError } from "../packets/source";
import type { RenderCache } from "../render-cache/cache-file";
import { createSpliceKey, formatSplice, parseSplice, type SplicePacket } from "../render-cache/splice-entries";
import { getSourceVersion } from "../source-version";
import type { SmartSource } from "./source";
import { buildSpliceIdentity } from "./splice-arguments";

type SpliceRender = { source: SmartSource; sourcePath: string; probed: ProbedMedia; ffmpeg: Ffmpeg };

/**
 * Looks up the segments that have to be encoded. Those whose parameter sets differ from the first one's count as
 * missing.
 */
export async function findCachedSplices(
  cache: RenderCache | undefined,
  segments: readonly SpliceSegment[],
  { source, sourcePath, probed, ffmpeg }: SpliceRender,
) {
  const keys = new Map<SpliceSegment, string>();
  const found = new Set<SpliceSegment>();
  let description: Uint8Array | null = null;
  const read = async (segment: SpliceSegment) => {
    const key = keys.get(segment);
    const content = cache === undefined || key === undefined ? null : await cache.find(key);
    return content === null ? null : parseSplice(content, segment.to - segment.from);
  };
  if (cache !== undefined) {
    const version = await getSourceVersion(sourcePath);
    for (const segment of segments) {
      const command = buildSpliceIdentity({ probed, segments: [segment], libavutil: ffmpeg.libavutil }, source.splice);
      const inputs = { source: version, ffmpeg: ffmpeg.version, splice: source.splice, command };
      keys.set(segment, createSpliceKey(segment, inputs));
      const splice = await read(segment);
      if (splice === null) continue;
      description ??= splice.description.slice();
      if (isSameBytes(description, splice.description)) found.add(segment);
    }
  }
  return {
    /** Parameter sets of the encoder of all cached segments, or null without cached segments. */
    description,
    has: (segment: SpliceSegment) => found.has(segment),
    /** Reads the packets of a cached segment. Errors: `SpliceError` if the file was damaged in the meantime. */
    read: async (segment: SpliceSegment) => {
      const splice = await read(segment);
      if (splice === null) throw new SpliceError("A cached segment cannot be read.");
      return splice.packets;
    },
    add: async (segment: SpliceSegment, encoded: { description: Uint8Array; packets: SplicePacket[] }) => {
      const key = keys.get(segment);
      if (cache !== undefined && key !== undefined) await cache.add(key, formatSplice(encoded));
    },
  };
}

export type CachedSplices = Awaited<ReturnType<typeof findCachedSplices>>;
