/** Encodes long AAC in chunks, several at a time, and joins them into one file. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buildOutputArguments, QUIET_ARGUMENTS } from "../arguments";
import { createWorkLimits, startFfmpeg, toFfmpegError } from "../ffmpeg";
import { type AacChunk, divideIntoAacChunks, findJoinPacket, PACKET_SAMPLES } from "./aac-chunks";
import { AacJoinError, type AacPacket, type AacTrackOptions, writeAacTrack } from "./aac-track";
import { parseAdtsConfig, parseAdtsPackets } from "./adts";
import { duplicateChannel, findDualMonoMean, toChannelPair, toStereoConfig } from "./dual-mono";
import { type AudioSink, type AudioSinkOptions, buildEncoderArguments, buildSampleInputArguments } from "./sink";

/**
 * About a minute: long compared to the start of an encoder, short enough to occupy every core. The samples of a chunk are kept in memory:
 * 25 MB for stereo.
 */
const CHUNK_PACKETS = 2_800;

/** With fewer cores, the decoder and the splicer already use the others. */
const MIN_ENCODERS = 3;

/** Returns whether it pays to encode this many samples in chunks. */
export const isWorthChunking = (samples: number, lanes: number): boolean =>
  lanes >= MIN_ENCODERS && samples > 1.5 * CHUNK_PACKETS * PACKET_SAMPLES;

type EncodedAacChunk = { part: AacChunk; packets: Uint8Array[]; config: Uint8Array };

/** A chunk that the writer waits for; null when it has been written. */
type PendingAacChunk = PromiseWithResolvers<EncodedAacChunk> | null;

/** Samples in the form in which they are encoded: all channels, or the mean of two identical ones. */
type SampleBlock = { samples: Float32Array; isMean: boolean };

/** A chunk that is being filled. Its end is also the start of the next chunk. `left`: missing samples. */
type OpenAacChunk = { n: number; blocks: SampleBlock[]; left: number };

/**
 * Returns a sink that encodes `samples` of mono or stereo with at most `maxEncoders` encoders. At most one chunk more than that is in
 * memory. `end` throws `AacJoinError` when the chunks cannot be joined.
 */
export function createChunkedSink(options: AacTrackOptions & { lanes: number }): AudioSink {
  const { audioFormat: sound, samples, lanes, signal } = options;
  const stop = new AbortController();
  const both = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const prefix = join(options.workDir, `sound-${randomUUID()}`);
  const parts = divideIntoAacChunks(samples, CHUNK_PACKETS);
  const encoded: PendingAacChunk[] = parts.map(() => Promise.withResolvers<EncodedAacChunk>());
  for (const part of encoded) part?.promise.catch(() => {});
  // The writer must not wait forever for a chunk that will never be encoded.
  both.addEventListener("abort", () => {
    for (const part of encoded) part?.reject(both.reason);
  });
  const file = writeAacTrack(options, joinChunkPackets(encoded), `${prefix}.joined.mp4`, both);
  file.catch((error: unknown) => stop.abort(error));
  const open: OpenAacChunk[] = [];
  const running = new Set<Promise<void>>();
  let next = 0;
  let position = 0;

  const encode = async ({ n, blocks }: OpenAacChunk): Promise<void> => {
    try {
      encoded[n]?.resolve(await encodeAacChunk(options, parts[n]!, blocks, `${prefix}.samples-${n}.aac`, both));
    } catch (error) {
      encoded[n]?.reject(error);
      stop.abort(error);
    }
  };

  return {
    async write(chunk) {
      both.throwIfAborted();
      const all = new Float32Array(chunk.buffer, chunk.byteOffset, chunk.length >> 2);
      const end = position + all.length / sound.channels;
      const mean = sound.channels === 2 ? findDualMonoMean(all) : null;
      const [block, width] = mean === null ? [all, sound.channels] : [mean, 1];
      for (; next < parts.length && parts[next]!.first < end; next++)
        open.push({ n: next, blocks: [], left: parts[next]!.last - parts[next]!.first });
      for (const part of open) {
        const from = Math.max(0, parts[part.n]!.first - position);
        const to = Math.min(end - position, from + part.left);
        part.blocks.push({ samples: block.subarray(from * width, to * width), isMean: mean !== null });
        part.left -= to - from;
      }
      position = end;
      while (open[0]?.left === 0) {
        const part = open.shift()!;
        while (running.size >= lanes) await Promise.race(running);
        const run: Promise<void> = encode(part).finally(() => running.delete(run));
        running.add(run);
      }
    },
    async end() {
      if (open.length > 0 || next < parts.length) throw new Error("there is less sound than was said");
      await file;
      signal?.throwIfAborted();
    },
    async abort(error) {
      stop.abort(error);
      await Promise.all(running);
      await file.catch(() => {});
      // The abort reason is the original error.
      return stop.signal.reason ?? error;
    },
  };
}

async function encodeAacChunk(
  options: AudioSinkOptions,
  part: AacChunk,
  blocks: SampleBlock[],
  path: string,
  signal: AbortSignal,
): Promise<EncodedAacChunk> {
  const isOne = blocks.every(({ isMean }) => isMean);
  try {
    await encodeBlocks(options, blocks, isOne, path, signal);
    const stream = await Bun.file(path).bytes();
    const { packets, config } = parseEncodedPackets(stream, isOne);
    const wanted = part.to - part.from;
    if (packets.length !== wanted) throw new AacJoinError(`${packets.length} packets, not ${wanted}`);
    return { part, packets, config };
  } finally {
    await rm(path, { force: true });
  }
}

/** Writes all blocks to the encoder, and removes them from the list as they are written. */
async function encodeBlocks(
  options: AudioSinkOptions,
  blocks: SampleBlock[],
  isOne: boolean,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { ffmpeg, audioFormat: sound, wallSeconds } = options;
  const input = buildSampleInputArguments(isOne ? { ...sound, channels: 1 } : sound);
  const encoder = startFfmpeg({
    ffmpeg,
    arguments: [
      ...QUIET_ARGUMENTS,
      ...input,
      ...buildEncoderArguments(options, isOne),
      "-f",
      "adts",
      ...buildOutputArguments(path),
    ],
    limits: createWorkLimits(wallSeconds),
    stdin: "pipe",
    signal,
  });
  try {
    // Blocks that were written can be freed.
    for (let block = blocks.shift(); block !== undefined; block = blocks.shift()) {
      const { samples, isMean } = block;
      const { buffer, byteOffset, byteLength } = isMean && !isOne ? duplicateChannel(samples) : samples;
      await encoder.stdin.write(new Uint8Array(buffer, byteOffset, byteLength));
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

function parseEncodedPackets(stream: Uint8Array, isOne: boolean): { packets: Uint8Array[]; config: Uint8Array } {
  try {
    const packets = parseAdtsPackets(stream);
    const config = parseAdtsConfig(stream);
    return isOne ? { packets: packets.map(toChannelPair), config: toStereoConfig(config) } : { packets, config };
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
    const to = following === undefined ? current.part.to : findJoinPacket(current, following);
    if (to === null) throw new AacJoinError("two parts are cut up differently");
    encoded[n] = null;
    for (let k = from; k < to; k++) yield { data: current.packets[k - current.part.from]!, config: current.config };
    from = to;
  }
}
