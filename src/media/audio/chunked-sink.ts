/** Encodes long AAC in chunks, several at a time, and joins them into one file. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buildOutputArguments } from "../arguments";
import { toFfmpegError } from "../ffmpeg";
import { type AacChunk, divideIntoAacChunks, findJoinPacket, PACKET_SAMPLES } from "./aac-chunks";
import { AacJoinError, type AacPacket, type AacTrackOptions, writeAacTrack } from "./aac-track";
import { parseAdtsConfig, parseAdtsPackets } from "./adts";
import { duplicateChannel, findDualMonoMean, toChannelPair, toStereoConfig } from "./dual-mono";
import { type AudioSink, type AudioSinkOptions, startEncoder, toSampleBytes, toSamples } from "./sink";

/**
 * About a minute: long compared to the start of an encoder, but short enough to keep every core busy. The samples of a
 * chunk are kept in memory: 25 MB for stereo.
 */
const CHUNK_PACKETS = 2_800;

/** With fewer cores, the decoder and the splicer already use the others. */
const MIN_ENCODERS = 3;

/** Returns whether it pays to encode this many samples in chunks. */
export const isWorthChunking = (samples: number, maxEncoders: number): boolean =>
  maxEncoders >= MIN_ENCODERS && samples > 1.5 * CHUNK_PACKETS * PACKET_SAMPLES;

type EncodedAacChunk = { chunk: AacChunk; packets: Uint8Array[]; config: Uint8Array };

/** A chunk for which the writer waits; null once it has been written. */
type PendingAacChunk = PromiseWithResolvers<EncodedAacChunk> | null;

/** Samples as they are encoded: all channels, or the mean of two identical ones. */
type SampleBlock = { samples: Float32Array; isMean: boolean };

/** A chunk that is being filled. Its end is also the start of the next one. `left` is the number of missing samples. */
type OpenAacChunk = { n: number; blocks: SampleBlock[]; left: number };

/**
 * Returns a sink that encodes `samples` of mono or stereo with at most `maxEncoders` encoders. At most one chunk more
 * than that is in memory. `end` throws `AacJoinError` if the chunks cannot be joined.
 */
export function createChunkedSink(options: AacTrackOptions & { maxEncoders: number }): AudioSink {
  const { audioFormat, samples, maxEncoders, signal } = options;
  const stop = new AbortController();
  const combinedSignal = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const prefix = join(options.workDir, `audio-${randomUUID()}`);
  const chunks = divideIntoAacChunks(samples, CHUNK_PACKETS);
  const encoded: PendingAacChunk[] = chunks.map(() => Promise.withResolvers<EncodedAacChunk>());
  for (const chunk of encoded) chunk?.promise.catch(() => {});
  // The writer must not wait forever for a chunk that will never be encoded.
  combinedSignal.addEventListener("abort", () => {
    for (const chunk of encoded) chunk?.reject(combinedSignal.reason);
  });
  const file = writeAacTrack(options, joinChunkPackets(encoded), `${prefix}.joined.mp4`, combinedSignal);
  file.catch((error: unknown) => stop.abort(error));
  const openChunks: OpenAacChunk[] = [];
  const encodings = new Set<Promise<void>>();
  let next = 0;
  let position = 0;

  const encode = async ({ n, blocks }: OpenAacChunk): Promise<void> => {
    try {
      encoded[n]?.resolve(
        await encodeAacChunk(options, chunks[n]!, blocks, `${prefix}.samples-${n}.aac`, combinedSignal),
      );
    } catch (error) {
      encoded[n]?.reject(error);
      stop.abort(error);
    }
  };

  return {
    async write(bytes) {
      combinedSignal.throwIfAborted();
      const interleaved = toSamples(bytes);
      const end = position + interleaved.length / audioFormat.channels;
      const mean = audioFormat.channels === 2 ? findDualMonoMean(interleaved) : null;
      const [block, width] = mean === null ? [interleaved, audioFormat.channels] : [mean, 1];
      for (; next < chunks.length && chunks[next]!.first < end; next++)
        openChunks.push({ n: next, blocks: [], left: chunks[next]!.last - chunks[next]!.first });
      for (const chunk of openChunks) {
        const from = Math.max(0, chunks[chunk.n]!.first - position);
        const to = Math.min(end - position, from + chunk.left);
        chunk.blocks.push({ samples: block.subarray(from * width, to * width), isMean: mean !== null });
        chunk.left -= to - from;
      }
      position = end;
      while (openChunks[0]?.left === 0) {
        const chunk = openChunks.shift()!;
        while (encodings.size >= maxEncoders) await Promise.race(encodings);
        const encoding: Promise<void> = encode(chunk).finally(() => encodings.delete(encoding));
        encodings.add(encoding);
      }
    },
    async end() {
      if (openChunks.length > 0 || next < chunks.length) throw new Error("There are fewer samples than declared.");
      await file;
      signal?.throwIfAborted();
    },
    async abort(error) {
      stop.abort(error);
      await Promise.all(encodings);
      await file.catch(() => {});
      // The abort reason is the original error.
      return stop.signal.reason ?? error;
    },
  };
}

async function encodeAacChunk(
  options: AudioSinkOptions,
  chunk: AacChunk,
  blocks: SampleBlock[],
  path: string,
  signal: AbortSignal,
): Promise<EncodedAacChunk> {
  const isMono = blocks.every(({ isMean }) => isMean);
  try {
    await encodeBlocks(options, blocks, isMono, path, signal);
    const stream = await Bun.file(path).bytes();
    const { packets, config } = parseEncodedPackets(stream, isMono);
    const expected = chunk.to - chunk.from;
    if (packets.length !== expected)
      throw new AacJoinError(`A chunk has ${packets.length} packets, expected ${expected}.`);
    return { chunk, packets, config };
  } finally {
    await rm(path, { force: true });
  }
}

/** Writes all blocks to the encoder, and removes them from the list as they are written. */
async function encodeBlocks(
  options: AudioSinkOptions,
  blocks: SampleBlock[],
  isMono: boolean,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const encoder = startEncoder(
    { ...options, signal },
    { isMono, output: ["-f", "adts", ...buildOutputArguments(path)] },
  );
  try {
    // Blocks that were written can be freed.
    for (let block = blocks.shift(); block !== undefined; block = blocks.shift()) {
      const { samples, isMean } = block;
      await encoder.stdin.write(toSampleBytes(isMean && !isMono ? duplicateChannel(samples) : samples));
    }
    await encoder.stdin.end();
  } catch {
    // The encoder's outcome explains why it stopped reading.
    await encoder.kill();
  }
  const outcome = await encoder.outcome;
  signal.throwIfAborted();
  // Old versions exit with 0 when they could not write the file.
  if (!outcome.ok || outcome.noSpace) throw toFfmpegError(outcome);
}

function parseEncodedPackets(stream: Uint8Array, isMono: boolean): { packets: Uint8Array[]; config: Uint8Array } {
  try {
    const packets = parseAdtsPackets(stream);
    const config = parseAdtsConfig(stream);
    return isMono ? { packets: packets.map(toChannelPair), config: toStereoConfig(config) } : { packets, config };
  } catch (error) {
    throw new AacJoinError(String(error));
  }
}

/** Yields the packets of the chunks in order. A chunk is freed when it has been written. */
async function* joinChunkPackets(encoded: PendingAacChunk[]): AsyncGenerator<AacPacket> {
  let from = 0;
  for (let n = 0; n < encoded.length; n++) {
    const current = await encoded[n]!.promise;
    const following = await encoded[n + 1]?.promise;
    const to = following === undefined ? current.chunk.to : findJoinPacket(current, following);
    if (to === null) throw new AacJoinError("Two chunks have no common window.");
    encoded[n] = null;
    for (let k = from; k < to; k++) yield { data: current.packets[k - current.chunk.from]!, config: current.config };
    from = to;
  }
}
