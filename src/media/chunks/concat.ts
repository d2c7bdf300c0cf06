/** Concatenates encoded chunks, and muxes video and audio into the finished file, without encoding again. */
import { join } from "node:path";
import { EncodedPacketSink } from "mediabunny";
import { AppError } from "../../domain/errors";
import type { ResolvedOutput } from "../../domain/media";
import type { Rational } from "../../domain/time";
import { buildOutputArguments, QUIET_ARGUMENTS } from "../arguments";
import { writeAtomically } from "../atomic-output";
import { createWorkLimits, type Ffmpeg, PROGRESS_ARGUMENTS, runFfmpeg } from "../ffmpeg";
import { isSameBytes } from "../packets/bits";
import {
  computeDisplayRanks,
  countFrames,
  iteratePackets,
  openVideoTrack,
  readFileConfig,
  readTimestamps,
  readTrackConfig,
  type VideoTrackConfig,
  type VideoTrackPacket,
  writeVideoTrack,
} from "../packets/video-track";

/** Thrown when the chunks have different parameter sets and cannot become one stream. */
export class ChunkMismatchError extends AppError<"processing_failed"> {
  constructor() {
    super("processing_failed", "The video chunks could not be joined.", {
      cause: new Error("The chunks have different parameter sets."),
    });
  }
}

export type TimedChunk = {
  path: string;
  /** Presentation times of its frames in the output, in display order, then the end of the chunk. Seconds. */
  times: Float64Array;
};

/** Writes the video of all chunks as one track. Errors: `ChunkMismatchError`; those of writing; the signal's reason. */
export async function concatChunks(options: {
  chunks: readonly TimedChunk[];
  constantRate: number | null;
  outputPath: string;
  signal?: AbortSignal | undefined;
  onFrames?: ((frames: number) => void) | undefined;
}): Promise<void> {
  const { chunks, constantRate, outputPath, signal, onFrames } = options;
  const config = await readFileConfig(chunks[0]!.path);
  await writeAtomically(outputPath, (tempPath) =>
    writeVideoTrack({
      path: tempPath,
      config,
      rotation: 0,
      constantRate,
      packets: readChunkPackets(chunks, config, signal),
      onPackets: onFrames,
    }),
  );
}

async function* readChunkPackets(
  chunks: readonly TimedChunk[],
  config: VideoTrackConfig,
  signal: AbortSignal | undefined,
): AsyncGenerator<VideoTrackPacket> {
  for (const { path, times } of chunks) {
    using file = await openVideoTrack(path);
    const chunkConfig = await readTrackConfig(file.track);
    if (!isSameBytes(chunkConfig.description, config.description)) throw new ChunkMismatchError();
    const sink = new EncodedPacketSink(file.track);
    const ranks = computeDisplayRanks(await readTimestamps(sink));
    let n = 0;
    for await (const { data, type } of iteratePackets(sink)) {
      signal?.throwIfAborted();
      const rank = ranks[n++]!;
      const timestamp = times[rank]!;
      yield { data, type, timestamp, duration: times[rank + 1]! - timestamp };
    }
  }
}

/** Returns a track timescale that represents the rate exactly. */
export function chooseTimescale(rate: Rational | null): number {
  if (rate === null || rate.num > 200_000) return 90_000;
  return rate.num < 1_000 ? rate.num * 1_000 : rate.num;
}

/**
 * Muxes video and audio into a file that plays before it is fully downloaded. ffmpeg writes it, because browsers seek
 * exactly in its tables. Errors: `AppError` `storage_full`, `processing_failed`; the signal's reason.
 */
export async function muxTracks(options: {
  ffmpeg: Ffmpeg;
  workDir: string;
  videoName: string;
  audioName: string | null;
  frameCount: number;
  codec: "h264" | "hevc";
  timescale: number;
  format: ResolvedOutput["format"];
  outputPath: string;
  signal?: AbortSignal | undefined;
  onFrames?: ((frames: number) => void) | undefined;
}): Promise<void> {
  const { ffmpeg, workDir, videoName, audioName, signal } = options;
  const inputOptions = ["-protocol_whitelist", "file,pipe", "-f", "mov"];
  const buildInput = (name: string) => [...inputOptions, "-i", `file:${join(workDir, name)}`];
  await writeAtomically(options.outputPath, async (tempPath) => {
    await runFfmpeg({
      ffmpeg,
      arguments: [
        ...QUIET_ARGUMENTS,
        ...PROGRESS_ARGUMENTS,
        ...buildInput(videoName),
        ...(audioName === null ? [] : buildInput(audioName)),
        ...["-map", "0:v:0", ...(audioName === null ? [] : ["-map", "1:a:0"]), "-c", "copy", "-map_metadata", "-1"],
        // `hvc1` keeps HEVC's parameter sets in the sample entry only, which Apple's players require.
        ...(options.codec === "hevc" ? ["-tag:v", "hvc1"] : []),
        ...["-video_track_timescale", String(options.timescale), "-movflags", "+faststart"],
        ...["-f", options.format, ...buildOutputArguments(tempPath)],
      ],
      limits: createWorkLimits(7_200),
      onProgress: ({ frames }) => options.onFrames?.(frames),
      signal,
    });
    const found = await countFrames(tempPath);
    if (found !== options.frameCount)
      throw new AppError("processing_failed", "The video chunks could not be joined.", {
        cause: new Error(`The joined file has ${found} frames, expected ${options.frameCount}.`),
      });
  });
}
