/** Video tracks in MP4 files of our own making: reading their packets, and writing packets with the exact times that they are given. */
import {
  ALL_FORMATS,
  EncodedPacket,
  type EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  FilePathTarget,
  Input,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import type { VideoStream } from "../../domain/media";
import { readMp4Structure } from "./mp4-structure";

/** A coded frame in decode order. Seconds of the output. */
export type VideoTrackPacket = { data: Uint8Array; type: "key" | "delta"; timestamp: number; duration: number };

/** What a decoder must know before the first packet. */
export type VideoTrackConfig = {
  codec: string;
  codedWidth: number;
  codedHeight: number;
  /** Shown size before rotation, where pixels are not square. */
  displayAspectWidth?: number;
  displayAspectHeight?: number;
  description: Uint8Array;
};

export type OpenVideoTrack = { track: InputVideoTrack; close(): void };

/** Opens a file's first video track. The caller closes it. Errors: a plain `Error` without one. */
export async function openVideoTrack(path: string): Promise<OpenVideoTrack> {
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new Error("no video track");
    return { track, close: () => input.dispose() };
  } catch (error) {
    input.dispose();
    throw error;
  }
}

/** Opens a file's first video track for the length of `use`. Errors: a plain `Error` without one. */
export async function withVideoTrack<Result>(
  path: string,
  use: (track: InputVideoTrack) => Promise<Result>,
): Promise<Result> {
  const { track, close } = await openVideoTrack(path);
  try {
    return await use(track);
  } finally {
    close();
  }
}

/** The decoder's configuration. Errors: a plain `Error` when the track keeps its parameters elsewhere. */
export async function readTrackConfig(track: InputVideoTrack): Promise<VideoTrackConfig> {
  const config = await track.getDecoderConfig();
  const { codec, codedWidth, codedHeight, description } = config ?? {};
  if (codec === undefined || codedWidth === undefined || codedHeight === undefined || description === undefined)
    throw new Error("the track has no parameter sets of its own");
  const bytes = ArrayBuffer.isView(description)
    ? new Uint8Array(description.buffer, description.byteOffset, description.byteLength)
    : new Uint8Array(description);
  const { displayAspectWidth, displayAspectHeight } = config ?? {};
  return {
    ...{ codec, codedWidth, codedHeight, description: bytes.slice() },
    ...(displayAspectWidth === undefined || displayAspectHeight === undefined
      ? {}
      : { displayAspectWidth, displayAspectHeight }),
  };
}

/**
 * Packets in decode order, from the first one or from `start`. One is read when it is asked for: mediabunny's own iterator reads ahead as
 * many as were taken within the last second, which of a source of a high rate are gigabytes.
 */
export async function* iteratePackets(
  sink: EncodedPacketSink,
  options: { start?: EncodedPacket; metadataOnly?: boolean } = {},
): AsyncGenerator<EncodedPacket, void, undefined> {
  const { start, metadataOnly = false } = options;
  const retrieval = { metadataOnly };
  let packet = start ?? (await sink.getFirstPacket(retrieval));
  while (packet !== null) {
    yield packet;
    packet = await sink.getNextPacket(packet, retrieval);
  }
}

/** When each packet is shown, decode order, seconds. */
export async function readTimestamps(sink: EncodedPacketSink): Promise<Float64Array> {
  const timestamps: number[] = [];
  for await (const { timestamp } of iteratePackets(sink, { metadataOnly: true })) timestamps.push(timestamp);
  return Float64Array.from(timestamps);
}

/** How many frames an MP4 file of ours has, by its table; 0 when it has no picture, or ends before its media does. */
export async function countFrames(path: string): Promise<number> {
  const structure = await readMp4Structure(path).catch(() => null);
  if (structure === null || structure.missingBytes > 0) return 0;
  return structure.tracks.find(({ kind }) => kind === "video")?.sampleCount ?? 0;
}

/** For each packet in decode order, its place in display order. */
export function computeDisplayRanks(timestamps: ArrayLike<number>): Int32Array {
  const order = Array.from({ length: timestamps.length }, (_, n) => n).sort((a, b) => timestamps[a]! - timestamps[b]!);
  const ranks = new Int32Array(timestamps.length);
  order.forEach((packet, rank) => {
    ranks[packet] = rank;
  });
  return ranks;
}

const PACKETS_PER_REPORT = 500;
/** mediabunny's own size is one that most of our files never fill. */
const WRITE_CHUNK_BYTES = 1024 ** 2;
/** Every packet is copied several times on its way; the collector, left alone, lets half a gigabyte of that pile up. */
const GARBAGE_BYTES_PER_COLLECTION = 64 * 1024 ** 2;

/**
 * Writes an MP4 file with one video track. `constantRate` (frames per second) lets the timescale hold every time exactly when all frames
 * are equally long. Errors: those of writing, and of packets out of order.
 */
export async function writeVideoTrack(options: {
  path: string;
  config: VideoTrackConfig;
  rotation: VideoStream["rotation"];
  constantRate: number | null;
  packets: AsyncIterable<VideoTrackPacket>;
  /** How many have been written. */
  onPackets?: (count: number) => void;
}): Promise<void> {
  const { config, constantRate } = options;
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: false }),
    target: new FilePathTarget(options.path, { chunkSize: WRITE_CHUNK_BYTES }),
  });
  const source = new EncodedVideoPacketSource(config.codec.startsWith("avc") ? "avc" : "hevc");
  output.addVideoTrack(source, {
    rotation: options.rotation,
    ...(constantRate === null ? {} : { frameRate: constantRate }),
  });
  await output.start();
  let count = 0;
  let garbageBytes = 0;
  try {
    for await (const { data, type, timestamp, duration } of options.packets) {
      const packet = new EncodedPacket(data, type, timestamp, duration);
      await source.add(packet, count === 0 ? { decoderConfig: config } : undefined);
      count++;
      if (count % PACKETS_PER_REPORT === 0) options.onPackets?.(count);
      garbageBytes += data.byteLength;
      if (garbageBytes < GARBAGE_BYTES_PER_COLLECTION) continue;
      garbageBytes = 0;
      Bun.gc(true);
    }
    await output.finalize();
  } catch (error) {
    await output.cancel().catch(() => {});
    throw error;
  }
  // On a full disk the writer leaves out what has no room, without a word.
  if ((await countFrames(options.path)) !== count) throw new Error("the written picture is not complete");
}
