/** Writes separately encoded AAC packets to one file, with exact start and duration. */
import { rm } from "node:fs/promises";
import { EncodedAudioPacketSource, EncodedPacket, Mp4OutputFormat, Output } from "mediabunny";
import { buildOutputArguments, QUIET_ARGUMENTS } from "../arguments";
import { createWorkLimits, runFfmpeg } from "../ffmpeg";
import { FileTarget } from "../packets/file-target";
import { findJoinPacket, PACKET_SAMPLES } from "./aac-chunks";
import { type AudioSinkOptions, getContainerArguments } from "./sink";

/** The chunks cannot be joined. The whole audio must be encoded by one encoder. */
export class AacJoinError extends Error {}

/** Packets of the start of a track, which were encoded earlier. The packets after them start before their end. */
export type EarlierPackets = {
  /** Index of the first packet of the new encoder. */
  from: number;
  /** The last packets, among which the join is. */
  tail: { from: number; packets: Uint8Array[] };
  /** Yields the packets before the join. Errors: `AacJoinError`. */
  read(to: number): AsyncIterable<Uint8Array>;
};

/**
 * Options of audio that several encoders encode. `samples`: the number of samples per channel, without those of
 * `earlier`. `onPacket` is called with each packet that is written.
 */
export type AacTrackOptions = AudioSinkOptions & {
  samples: number;
  earlier?: EarlierPackets | undefined;
  onPacket?: ((packet: Uint8Array) => Promise<void>) | undefined;
};

/** A packet, and the AudioSpecificConfig of its encoder. */
export type AacPacket = { data: Uint8Array; config: Uint8Array };

/**
 * Writes the packets, in order, to the options' path. `joinedPath` is an intermediate file, which is removed. The track
 * of a video needs none: ffmpeg writes the tables when it muxes both. Errors: those of the packets; `AppError`
 * `storage_full`, `processing_failed`; the signal's reason.
 */
export async function writeAacTrack(
  options: AacTrackOptions,
  encoded: AsyncGenerator<AacPacket>,
  joinedPath: string,
  signal: AbortSignal,
): Promise<void> {
  const { earlier } = options;
  const packets = earlier === undefined ? encoded : joinEarlierPackets(earlier, encoded);
  if (options.format === "mp4") return await writeMp4(options, packets, options.path);
  try {
    await writeMp4(options, packets, joinedPath);
    await runFfmpeg({
      ffmpeg: options.ffmpeg,
      arguments: [
        ...QUIET_ARGUMENTS,
        ...["-protocol_whitelist", "file,pipe", "-f", "mov", "-i", `file:${joinedPath}`],
        ...["-map", "0:a:0", "-c", "copy", "-map_metadata", "-1"],
        ...getContainerArguments(options.format),
        ...buildOutputArguments(options.path),
      ],
      limits: createWorkLimits(options.wallSeconds),
      signal,
    });
  } finally {
    await rm(joinedPath, { force: true });
  }
}

/** Writes all packets as one track. The first packet precedes the start (priming), the last one lasts until the end. */
async function writeMp4(
  { audioFormat, earlier, onPacket, samples: encodedSamples }: AacTrackOptions,
  packets: AsyncIterable<AacPacket>,
  path: string,
): Promise<void> {
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target: new FileTarget(path) });
  const samples = (earlier?.from ?? 0) * PACKET_SAMPLES + encodedSamples;
  const track = new EncodedAudioPacketSource("aac");
  output.addAudioTrack(track);
  await output.start();
  const toMetadata = (description: Uint8Array) => ({
    decoderConfig: {
      codec: "mp4a.40.2",
      numberOfChannels: audioFormat.channels,
      sampleRate: audioFormat.sampleRate,
      description,
    },
  });
  try {
    let n = 0;
    for await (const { data, config } of packets) {
      const start = (n - 1) * PACKET_SAMPLES;
      const length = Math.min(PACKET_SAMPLES, samples - start);
      const packet = new EncodedPacket(data, "key", start / audioFormat.sampleRate, length / audioFormat.sampleRate);
      await track.add(packet, n === 0 ? toMetadata(config) : undefined);
      await onPacket?.(data);
      n++;
    }
    await output.finalize();
  } catch (error) {
    await output.cancel().catch(() => {});
    throw error;
  }
}

/** Yields the earlier packets up to a join, then those of the new encoder. */
async function* joinEarlierPackets(
  { from, tail, read }: EarlierPackets,
  encoded: AsyncGenerator<AacPacket>,
): AsyncGenerator<AacPacket> {
  const tailEnd = tail.from + tail.packets.length;
  const first: AacPacket[] = [];
  while (from + first.length < tailEnd) {
    const next = await encoded.next();
    if (next.done) break;
    first.push(next.value);
  }
  const at = findJoinPacket(
    { chunk: { from: tail.from, to: tailEnd }, packets: tail.packets },
    { chunk: { from, to: from + first.length }, packets: first.map(({ data }) => data) },
  );
  if (at === null) throw new AacJoinError("The earlier packets have no common window with the new ones.");
  const { config } = first[0]!;
  for await (const data of read(at)) yield { data, config };
  yield* first.slice(at - from);
  yield* encoded;
}
