/**
 * Checks the files of a split render that another machine has sent, at a small part of the cost of decoding them. It
 * detects:
 * - bytes that changed on the way: SHA-256, compared before this check;
 * - a truncated file, another number or size of frames, packets that are not one frame each, changed parameter sets, a
 *   beginning that needs
 * other frames, and times that are not in the order of the pictures: every packet is read;
 * - the file of another chunk: the encoder writes its name into the file;
 * - frames that cannot be decoded at the beginning of the first and of the last group of pictures. Damage within a
 *   coded frame elsewhere, which the machine has hashed as its own result, is found only by decoding everything. That
 *   happens if the sample is suspect, and for all files of a worker that has sent a wrong one. Wrong picture content
 *   cannot be detected: a worker is trusted with it.
 */
import { open } from "node:fs/promises";
import { type Rational, TICKS_PER_SECOND } from "../../domain/time";
import { buildPassthroughArguments } from "../arguments";
import { createWorkLimits, PROGRESS_ARGUMENTS, type RecordingFile, tryFfmpeg } from "../ffmpeg";
import { findChildBox, readMoov, readMp4Structure } from "../packets/mp4-structure";
import { type PictureGroup, readPictureGroups } from "./check-packets";

/** Expected content of a file: the frames of a chunk at a size and its name, or audio of a duration. */
export type ExpectedChunk =
  | { kind: "video"; name: string; frameCount: number; width: number; height: number; frameRate: Rational }
  | { kind: "audio"; seconds: number };

/** Part of a file that is decoded. Audio is always decoded completely. */
export type DecodedPart = "sample" | "all";

export type ChunkCheck = Omit<RecordingFile, "probed"> & { expected: ExpectedChunk; decode: DecodedPart };

/** Encoders add some silence to the last packet. */
const MAX_AUDIO_DEVIATION_SECONDS = 0.25;
const BASE_WALL_SECONDS = 120;
/** Decoding runs at this many frames per second on the slowest machine, and at this speed for audio. */
const MIN_FRAMES_PER_SECOND = 5;
const MIN_AUDIO_SPEED = 5;
/** Maximum number of frames of a group of pictures in a sample. */
const MAX_SAMPLE_FRAMES = 48;
/** Decoders report a picture that ends too early only at the info level, because they conceal the missing part. */
const MESSAGE_ARGUMENTS = ["-hide_banner", "-nostdin", "-v", "level+info"];
const DAMAGE = /\[(?:error|fatal|panic)\]|\bconcealing \d/;
/** ffmpeg seeks 3/23 s earlier in video whose frames are reordered. */
const SEEK_MARGIN_SECONDS = 0.15;

/** Returns the problem of a file, or null for a good one. Errors: the signal's reason. */
export async function findChunkProblem(check: ChunkCheck): Promise<string | null> {
  const { expected, path, signal } = check;
  try {
    const problem = await findTableProblem(path, expected);
    if (problem !== null) return problem;
    if (expected.kind === "audio") return await findAudioProblem(check, expected.seconds);
    const groups = await readPictureGroups(path, expected);
    signal?.throwIfAborted();
    if (check.decode === "sample" && groups !== null && (await isSampleGood(check, groups))) return null;
    return await findDecoderProblem(check, { start: null, frameCount: expected.frameCount });
  } catch (error) {
    signal?.throwIfAborted();
    return `The file cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function findTableProblem(path: string, expected: ExpectedChunk): Promise<string | null> {
  const structure = await readMp4Structure(path);
  if (structure === null || structure.missingBytes > 0) return "The file is incomplete.";
  const [track, ...others] = structure.tracks;
  if (track?.kind !== expected.kind || others.length > 0)
    return `The file does not have exactly one ${expected.kind} track.`;
  if (expected.kind === "audio") return null;
  if (track.sampleCount !== expected.frameCount)
    return `The file has ${track.sampleCount} frames, expected ${expected.frameCount}.`;
  return (await hasName(path, expected.name)) ? null : "The file belongs to another chunk.";
}

/** Returns whether the metadata of a file contains the name of its chunk, which the encoder of chunks writes. */
async function hasName(path: string, name: string): Promise<boolean> {
  await using file = await open(path, "r");
  const { moov } = await readMoov(file);
  const metadata = findChildBox(moov ?? undefined, "udta");
  return metadata !== undefined && Buffer.from(metadata).includes(name, 0, "latin1");
}

/** Decodes the beginnings of the first and the last group of pictures. */
async function isSampleGood(check: ChunkCheck, groups: readonly PictureGroup[]): Promise<boolean> {
  for (const group of new Set([groups[0]!, groups.at(-1)!])) {
    const range = { start: group === groups[0] ? null : group.start, frameCount: group.frameCount };
    if ((await findDecoderProblem(check, range, MAX_SAMPLE_FRAMES)) !== null) return false;
  }
  return true;
}

/** Frames from a random access point. `start` null means the beginning of the file. */
type DecodedRange = { start: number | null; frameCount: number };

async function findDecoderProblem(
  check: ChunkCheck,
  { start, frameCount }: DecodedRange,
  maxFrames = Number.POSITIVE_INFINITY,
): Promise<string | null> {
  const expected = Math.min(frameCount, maxFrames);
  // The entropy decoder already reports errors.
  const input = ["-skip_loop_filter", "all"];
  // Only the last group starts after the beginning of the file, and no other group follows it.
  if (start !== null) input.push("-noaccurate_seek", "-ss", (start + SEEK_MARGIN_SECONDS).toFixed(6));
  const output = ["-map", "0:v:0", ...buildPassthroughArguments(check.ffmpeg.libavutil)];
  // One extra frame, so that too many frames are also detected.
  if (frameCount > maxFrames) output.push("-frames:v", String(maxFrames));
  const { problem, frames } = await decode(check, { input, output, seconds: expected / MIN_FRAMES_PER_SECOND });
  return problem ?? (frames === expected ? null : `${frames} frames can be decoded, expected ${expected}.`);
}

async function findAudioProblem(check: ChunkCheck, seconds: number): Promise<string | null> {
  const options = { input: [], output: ["-map", "0:a:0"], seconds: seconds / MIN_AUDIO_SPEED };
  const { problem, outTime } = await decode(check, options);
  if (problem !== null) return problem;
  const found = outTime / TICKS_PER_SECOND;
  return Math.abs(found - seconds) <= MAX_AUDIO_DEVIATION_SECONDS
    ? null
    : `The audio lasts ${found} s, expected ${seconds} s.`;
}

/** Decodes a file without output. `seconds` is the time limit. */
async function decode(
  { ffmpeg, path, signal }: ChunkCheck,
  { input, output, seconds }: { input: string[]; output: string[]; seconds: number },
): Promise<{ problem: string | null; frames: number; outTime: number }> {
  const messages: string[] = [];
  let decoded = { frames: 0, outTime: 0 };
  const outcome = await tryFfmpeg({
    ffmpeg,
    arguments: [
      ...MESSAGE_ARGUMENTS,
      ...PROGRESS_ARGUMENTS,
      ...["-protocol_whitelist", "file", "-f", "mov", ...input, "-threads", "1", "-i", `file:${path}`],
      ...[...output, "-f", "null", "-"],
    ],
    limits: createWorkLimits(BASE_WALL_SECONDS + seconds),
    onLine: (line) => {
      if (DAMAGE.test(line)) messages.push(line);
    },
    onProgress: (done) => {
      decoded = done;
    },
    signal,
  });
  const isGood = outcome.ok && messages.length === 0;
  return { problem: isGood ? null : `The file cannot be decoded: ${messages[0] ?? outcome.message}`, ...decoded };
}
