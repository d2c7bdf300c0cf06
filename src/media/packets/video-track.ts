/** Reads and writes video tracks in Offcut's own MP4 files, with exact packet times. */
import {
  ALL_FORMATS,
  EncodedPacket,
  type EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  Input,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import type { VideoStream } from "../../domain/media";
import { FileTarget } from "./file-target";
import { toBytes } from "./mp4-boxes";
import { readMp4Structure } from "./mp4-structure";

/** A coded frame in decode order. Times in seconds of the output. */
export type VideoTrackPacket = { data: Uint8Array; type: "key" | "delta"; timestamp: number; duration: number };

export type VideoTrackConfig = {
  codec: string;
  codedWidth: number;
  codedHeight: number;
  /** Display size before rotation, when pixels are not square. */
  displayAspectWidth?: number;
  displayAspectHeight?: number;
  description: Uint8Array;
};

/** Opens a file's first video track. Disposing of it closes the file. Errors: a plain `Error` without a video track. */
export async function openVideoTrack(path: string): Promise<Disposable & { track: InputVideoTrack }> {
  using opening = new DisposableStack();
  const track = await opening
    .use(new Input({ source: new FilePathSource(path), formats: ALL_FORMATS }))
    .getPrimaryVideoTrack();
  if (track === null) throw new Error("No video track.");
  const opened = opening.move();
  return { track, [Symbol.dispose]: () => opened.dispose() };
}

/**
 * Reads the decoder configuration of a file's first video track. Errors: those of `openVideoTrack`, `readTrackConfig`.
 */
export async function readFileConfig(path: string): Promise<VideoTrackConfig> {
  using file = await openVideoTrack(path);
  return await readTrackConfig(file.track);
}

/** Reads the decoder configuration. Errors: a plain `Error` when the parameter sets are in-band. */
export async function readTrackConfig(track: InputVideoTrack): Promise<VideoTrackConfig> {
  const config = await track.getDecoderConfig();
  const { codec, codedWidth, codedHeight, description } = config ?? {};
  if (codec === undefined || codedWidth === undefined || codedHeight === undefined || description === undefined)
    throw new Error("The parameter sets are in-band.");
  const { displayAspectWidth, displayAspectHeight } = config ?? {};
  const parameters = { codec, codedWidth, codedHeight, description: toBytes(description).slice() };
  if (displayAspectWidth === undefined || displayAspectHeight === undefined) return parameters;
  return { ...parameters, displayAspectWidth, displayAspectHeight };
}

/**
 * Iterates over packets in decode order, from the first one or from `start`. Reads one packet per step: mediabunny's
 * own iterator reads ahead as many packets as were taken within the last second, which can be gigabytes for a source
 * with a high bitrate.
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

/** Reads the presentation times of all packets in decode order, in seconds. */
export async function readTimestamps(sink: EncodedPacketSink): Promise<Float64Array> {
  const timestamps: number[] = [];
  for await (const { timestamp } of iteratePackets(sink, { metadataOnly: true })) timestamps.push(timestamp);
  return Float64Array.from(timestamps);
}

/** Returns the number of frames in one of Offcut's MP4 files by its table; 0 if truncated or without video. */
export async function countFrames(path: string): Promise<number> {
  const structure = await readMp4Structure(path).catch(() => null);
  if (structure === null || structure.missingBytes > 0) return 0;
  return structure.tracks.find(({ kind }) => kind === "video")?.sampleCount ?? 0;
}

/** Returns the rank in display order of each packet in decode order. */
export function computeDisplayRanks(timestamps: ArrayLike<number>): Int32Array {
  const order = Array.from({ length: timestamps.length }, (_, n) => n).sort((a, b) => timestamps[a]! - timestamps[b]!);
  const ranks = new Int32Array(timestamps.length);
  order.forEach((packet, rank) => {
    ranks[packet] = rank;
  });
  return ranks;
}

const PACKETS_PER_REPORT = 500;
/** Packets are garbage once they are written, and accumulate without an explicit collection. */
const GARBAGE_BYTES_PER_COLLECTION = 64 * 1024 ** 2;

/**
 * Writes an MP4 file with one video track. With `constantRate` (frames per second) the timescale represents every time
 * exactly. Errors: those of writing, and of packets out of order.
 */
export async function writeVideoTrack(options: {
  path: string;
  config: VideoTrackConfig;
  rotation: VideoStream["rotation"];
  constantRate: number | null;
  packets: AsyncIterable<VideoTrackPacket>;
  onPackets?: ((count: number) => void) | undefined;
}): Promise<void> {
  const { config, rotation, constantRate } = options;
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: false }),
    target: new FileTarget(options.path),
  });
  const source = new EncodedVideoPacketSource(config.codec.startsWith("avc") ? "avc" : "hevc");
  output.addVideoTrack(source, constantRate === null ? { rotation } : { rotation, frameRate: constantRate });
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
}
