/**
 * Encodes parts of a source on request, as the preview will have them: before it is ready, for sources that browsers
 * cannot play, and for the start of parts inside a group of pictures.
 */
import { AppError } from "../../domain/errors";
import type { MediaInfo, VideoStream } from "../../domain/media";
import type { SpawnOptions } from "../../lib/process";
import { PACKET_SAMPLES } from "../audio/aac-chunks";
import { parseAdtsPackets } from "../audio/adts";
import { createWorkLimits, startFfmpeg, toFfmpegError } from "../ffmpeg";
import { measureCpuSeconds } from "./cpu-seconds";
import { buildLiveAudioArguments, buildLiveVideoArguments, PREVIEW_SAMPLE_RATE, PREVIEW_TIMESCALE } from "./encode";
import { ROTATION_MATRICES, writeFragment, writeInitSegment } from "./fragment";
import { type HeadTools, readLimited } from "./head";

/** A minute of noise at the preview's quality has a third of this. */
const MAX_OUTPUT_BYTES = 96 * 1024 ** 2;
const MAX_WALL_SECONDS = 120;
/** Duration of audio before and after the part, so that the decoder's overlap is right at its first sample. */
const AUDIO_LEAD_SECONDS = 0.1;
const AUDIO_TAIL_SECONDS = 0.05;

/** `from` and `to` are in seconds. `isCoded`: the player turns the frames, as it turns those of the source. */
export type LiveRequest = { path: string; info: MediaInfo; from: number; to: number; isCoded?: boolean };

/** `onEnd` receives the processor time of ffmpeg. */
type LiveTools = HeadTools & { priority?: SpawnOptions["priority"]; onEnd?: (cpuSeconds: number) => void };

const damaged = (what: string) =>
  new AppError("processing_failed", "The recording could not be decoded here.", { cause: new Error(what) });

/**
 * Returns the frames as fragmented MP4 with source times. Errors: `AppError` `processing_failed`; the signal's reason.
 */
export async function encodeLiveVideo(
  tools: LiveTools & { hasZscale: boolean },
  { path, info, from, to, isCoded = false }: LiveRequest,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const source = { path, info, libavutil: tools.ffmpeg.libavutil };
  const bytes = await run(
    tools,
    path,
    buildLiveVideoArguments(source, { from, to, hasZscale: tools.hasZscale, isCoded }),
    signal,
  );
  shiftFragments(bytes, Math.round(from * PREVIEW_TIMESCALE));
  if (isCoded) turnTracks(bytes, info.video!.rotation);
  return bytes;
}

/**
 * Returns the audio as fragmented MP4 with source times, and nothing after its end. Errors: `AppError`
 * `processing_failed`; the signal's reason.
 */
export const encodeLiveAudio = (
  tools: LiveTools,
  { path, info, ...span }: LiveRequest,
  signal: AbortSignal,
): Promise<Uint8Array> =>
  toAudioPiece(span, (wider) => {
    const source = { path, info, libavutil: tools.ffmpeg.libavutil };
    return run(tools, path, buildLiveAudioArguments(source, wider), signal);
  });

/**
 * Returns audio as fragmented MP4 with source times. `encode` returns ADTS of the span that it receives, which is wider
 * than the part. Times are in seconds. Errors: those of `encode`.
 */
export async function toAudioPiece(
  { from, to }: { from: number; to: number },
  encode: (span: { from: number; to: number }) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const span = { from: Math.max(0, from - AUDIO_LEAD_SECONDS), to: to + AUDIO_TAIL_SECONDS };
  const stream = await encode(span);
  // The encoder puts one packet before the first sample.
  const start = Math.round(span.from * PREVIEW_SAMPLE_RATE) - PACKET_SAMPLES;
  const packets = parsePackets(stream).map((data, n) => ({ data, time: start + n * PACKET_SAMPLES }));
  const samples = packets.filter(({ time }) => time >= 0);
  if (samples.length === 0) return new Uint8Array();
  const format = { kind: "audio" as const, timescale: PREVIEW_SAMPLE_RATE, sampleEntry: AAC_SAMPLE_ENTRY };
  const fragment = samples.map(({ data }) => ({ data, duration: PACKET_SAMPLES, isKey: true }));
  return Buffer.concat([...writeInitSegment(format), ...writeFragment(samples[0]!.time, fragment)]);
}

async function run(
  { ffmpeg, sandbox, priority = "interactive", onEnd = () => {} }: LiveTools,
  path: string,
  args: string[],
  signal: AbortSignal,
): Promise<Uint8Array> {
  signal.throwIfAborted();
  const child = startFfmpeg({
    ffmpeg,
    arguments: args,
    limits: createWorkLimits(MAX_WALL_SECONDS),
    sandbox: { sandbox, view: { readOnly: [path], writable: [], devices: false } },
    priority,
    stdout: "pipe",
    signal,
  });
  void measureCpuSeconds(child, ffmpeg).then(onEnd);
  const bytes = await readLimited(child.stdout, { maxBytes: MAX_OUTPUT_BYTES, stop: child.killNow });
  const outcome = await child.outcome;
  signal.throwIfAborted();
  if (!outcome.ok) throw toFfmpegError(outcome);
  return bytes;
}

/** Adds a time to those of all fragments. Throws `AppError` `processing_failed` if a box has an invalid size. */
export function shiftFragments(bytes: Uint8Array, time: number): void {
  for (const tfdt of iterateBoxes(bytes, ["moof", "traf", "tfdt"])) {
    if (tfdt.byteLength < 20 || tfdt.getUint8(8) !== 1) throw damaged("tfdt");
    tfdt.setBigUint64(12, tfdt.getBigUint64(12) + BigInt(time));
  }
}

/** Makes players turn all tracks. Throws `AppError` `processing_failed` if a box has an invalid size. */
function turnTracks(bytes: Uint8Array, rotation: VideoStream["rotation"]): void {
  for (const tkhd of iterateBoxes(bytes, ["moov", "trak", "tkhd"])) {
    const at = tkhd.getUint8(8) === 1 ? 60 : 48;
    if (tkhd.byteLength < at + 36) throw damaged("tkhd");
    for (const [n, value] of ROTATION_MATRICES[rotation].entries()) tkhd.setUint32(at + 4 * n, value);
  }
}

function* iterateBoxes(bytes: Uint8Array, path: readonly string[]): Generator<DataView<ArrayBufferLike>> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at);
    if (size < 8 || at + size > bytes.length) throw damaged("a box has an invalid size");
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const isFound = type === path[0];
    if (isFound && path.length > 1) yield* iterateBoxes(bytes.subarray(at + 8, at + size), path.slice(1));
    if (isFound && path.length === 1) yield new DataView(bytes.buffer, bytes.byteOffset + at, size);
    at += size;
  }
}

function parsePackets(stream: Uint8Array): Uint8Array[] {
  try {
    return parseAdtsPackets(stream);
  } catch {
    throw damaged("ADTS");
  }
}

/** `mp4a` of AAC LC, 48 kHz, stereo (ISO 14496-14): ES, decoder configuration, specific information, sync layer. */
const AAC_SAMPLE_ENTRY = Uint8Array.from([
  ...[0, 0, 0, 75, 0x6d, 0x70, 0x34, 0x61, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
  ...[0, 2, 0, 16, 0, 0, 0, 0, 0xbb, 0x80, 0, 0],
  ...[0, 0, 0, 39, 0x65, 0x73, 0x64, 0x73, 0, 0, 0, 0],
  ...[3, 25, 0, 1, 0, 4, 17, 0x40, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 0x11, 0x90, 6, 1, 2],
]);
