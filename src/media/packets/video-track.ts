/** Video tracks in MP4 files of our own making: reading their packets, and writing packets with the exact times that they are given. */
import {
  ALL_FORMATS,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  FilePathTarget,
  Input,
  type InputVideoTrack,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import type { VideoStream } from "../../domain/media";

/** A coded frame in decode order. Seconds of the output. */
export type TrackPacket = { data: Uint8Array; type: "key" | "delta"; timestamp: number; duration: number };

/** What a decoder must know before the first packet. */
export type TrackConfig = {
  codec: string;
  codedWidth: number;
  codedHeight: number;
  /** Shown size before rotation, where pixels are not square. */
  displayAspectWidth?: number;
  displayAspectHeight?: number;
  description: Uint8Array;
};

/** Opens a file's first video track for the length of `use`. Errors: a plain `Error` without one. */
export async function withVideoTrack<Result>(
  path: string,
  use: (track: InputVideoTrack) => Promise<Result>,
): Promise<Result> {
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new Error("no video track");
    return await use(track);
  } finally {
    input.dispose();
  }
}

/** The decoder's configuration. Errors: a plain `Error` when the track keeps its parameters elsewhere. */
export async function trackConfig(track: InputVideoTrack): Promise<TrackConfig> {
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

/** How many frames an MP4 file of ours has, by its table; 0 when it has no picture. */
export async function countFrames(path: string): Promise<number> {
  return await withVideoTrack(path, async (track) => {
    let count = 0;
    for await (const _ of new EncodedPacketSink(track).packets(undefined, undefined, { metadataOnly: true })) count++;
    return count;
  }).catch(() => 0);
}

/** For each packet in decode order, its place in display order. */
export function displayRanks(timestamps: readonly number[]): Int32Array {
  const order = [...timestamps.keys()].sort((a, b) => timestamps[a]! - timestamps[b]!);
  const ranks = new Int32Array(timestamps.length);
  order.forEach((packet, rank) => {
    ranks[packet] = rank;
  });
  return ranks;
}

const REPORT_PACKETS = 500;

/**
 * Writes an MP4 file with one video track. `constantRate` (frames per second) lets the timescale hold every time exactly when all frames
 * are equally long. Errors: those of writing, and of packets out of order.
 */
export async function writeVideoTrack(options: {
  path: string;
  config: TrackConfig;
  rotation: VideoStream["rotation"];
  constantRate: number | null;
  packets: AsyncIterable<TrackPacket>;
  /** How many have been written. */
  onPackets?: (count: number) => void;
}): Promise<void> {
  const { config, constantRate } = options;
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: false }),
    target: new FilePathTarget(options.path),
  });
  const source = new EncodedVideoPacketSource(config.codec.startsWith("avc") ? "avc" : "hevc");
  output.addVideoTrack(source, {
    rotation: options.rotation,
    ...(constantRate === null ? {} : { frameRate: constantRate }),
  });
  await output.start();
  let count = 0;
  try {
    for await (const { data, type, timestamp, duration } of options.packets) {
      const packet = new EncodedPacket(data, type, timestamp, duration);
      await source.add(packet, count === 0 ? { decoderConfig: config } : undefined);
      count++;
      if (count % REPORT_PACKETS === 0) options.onPackets?.(count);
    }
    await output.finalize();
  } catch (error) {
    await output.cancel().catch(() => {});
    throw error;
  }
  // On a full disk the writer leaves out what has no room, without a word.
  if ((await countFrames(options.path)) !== count) throw new Error("the written picture is not complete");
}
