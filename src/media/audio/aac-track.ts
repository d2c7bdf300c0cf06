/** Packets of AAC, encoded apart, as one file: with their exact beginning and length. */
import { rm } from "node:fs/promises";
import { EncodedAudioPacketSource, EncodedPacket, FilePathTarget, Mp4OutputFormat, Output } from "mediabunny";
import { buildOutputArguments, QUIET_ARGUMENTS } from "../arguments";
import { createWorkLimits, runFfmpeg } from "../ffmpeg";
import { PACKET_SAMPLES } from "./aac-chunks";
import { type AudioSinkOptions, getContainerArguments } from "./sink";

/** The parts do not fit together; one encoder must do it all. */
export class AacJoinError extends Error {}

/** What is known of a sound that is encoded apart: `samples` of each channel. */
export type AacTrackOptions = AudioSinkOptions & { samples: number };

/** A packet, and the configuration (an AudioSpecificConfig) of the encoder that it comes from. */
export type AacPacket = { data: Uint8Array; config: Uint8Array };

/**
 * Writes the packets, in order, to the options' path, by way of `joinedPath`, which is removed. Errors: those of the packets; `AppError`
 * `storage_full`, `processing_failed`; the signal's reason.
 */
export async function writeAacTrack(
  options: AacTrackOptions,
  packets: AsyncIterable<AacPacket>,
  joinedPath: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await writeMp4(options, packets, joinedPath);
    await runFfmpeg({
      ffmpeg: options.ffmpeg,
      arguments: [
        ...[...QUIET_ARGUMENTS, "-protocol_whitelist", "file,pipe", "-f", "mov", "-i", `file:${joinedPath}`],
        ...["-map", "0:a:0", "-c", "copy", "-map_metadata", "-1"],
        ...[...getContainerArguments(options.format), ...buildOutputArguments(options.path)],
      ],
      limits: createWorkLimits(options.wallSeconds),
      signal,
    });
  } finally {
    await rm(joinedPath, { force: true });
  }
}

/** All packets as one track; the first one lies before the beginning, and the last one is as long as what is left. */
async function writeMp4(
  { audioFormat: sound, samples }: AacTrackOptions,
  packets: AsyncIterable<AacPacket>,
  path: string,
): Promise<void> {
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target: new FilePathTarget(path) });
  const track = new EncodedAudioPacketSource("aac");
  output.addAudioTrack(track);
  await output.start();
  const meta = (description: Uint8Array) => ({
    decoderConfig: { codec: "mp4a.40.2", numberOfChannels: sound.channels, sampleRate: sound.sampleRate, description },
  });
  try {
    let n = 0;
    for await (const { data, config } of packets) {
      const start = (n - 1) * PACKET_SAMPLES;
      const length = Math.min(PACKET_SAMPLES, samples - start);
      const packet = new EncodedPacket(data, "key", start / sound.sampleRate, length / sound.sampleRate);
      await track.add(packet, n === 0 ? meta(config) : undefined);
      n++;
    }
    await output.finalize();
  } catch (error) {
    await output.cancel().catch(() => {});
    throw error;
  }
}
