/**
 * Encodes the frames between the start of a piece and the next keyframe of the preview again. Without this, frames that
 * are only decoded as references would be visible for a moment.
 */
import { AppError } from "../../domain/errors";
import type { VideoStream } from "../../domain/media";
import type { SpawnOptions } from "../../lib/process";
import type { Sandbox } from "../../lib/sandbox";
import { buildPassthroughArguments, QUIET_ARGUMENTS } from "../arguments";
import { createWorkLimits, type Ffmpeg, type FfmpegChild, startFfmpeg, toFfmpegError } from "../ffmpeg";
import { buildPacket } from "../packets/bitstream";
import { buildAvcConfig, getNalType, NAL_IDR, NAL_PPS, NAL_SLICE, NAL_SPS } from "../packets/h264";
import { toView, VISUAL_ENTRY_BYTES } from "../packets/mp4-boxes";
import { findChildBox } from "../packets/mp4-structure";
import { measureCpuSeconds } from "./cpu-seconds";
import { buildPreviewEncoderArguments, FAST_X264 } from "./encode";
import { box, writeFragment, writeInitSegment } from "./fragment";

const START_CODE = Uint8Array.of(0, 0, 1);
const MAX_HEAD_SECONDS = 20;
/** Maximum time that a process waits for its frames. */
export const MAX_IDLE_SECONDS = 60;
/** The clock of the encoder's input. Frame `first` is at `FIRST_SECONDS`, so that earlier frames also have a time. */
const TIMESCALE = 90_000;
const FRAME_DURATION = TIMESCALE / 25;
const FIRST_SECONDS = 1_000;
const BETWEEN_FRAMES_SECONDS = 0.02;
/** Half a second of noise at 60 frames per second has a tenth of this size. */
const MAX_OUTPUT_BYTES = 32 * 1024 ** 2;

/** `parameterSets` are those of the head if they differ from the preview's, otherwise null. */
export type EncodedHead = { samples: Uint8Array[]; parameterSets: { sps: Uint8Array; pps: Uint8Array } | null };

const damaged = (what: string) =>
  new AppError("processing_failed", "The preview is damaged.", { cause: new Error(what), isPermanent: true });

/** Returns the parameter sets of an `avc1` entry. */
export function readParameterSets(sampleEntry: Uint8Array): { sps: Uint8Array; pps: Uint8Array } {
  const avcC = findChildBox(sampleEntry.subarray(VISUAL_ENTRY_BYTES), "avcC");
  if (avcC === undefined || avcC.length < 8) throw damaged("no avcC");
  const view = toView(avcC);
  const spsBytes = view.getUint16(6);
  const sps = avcC.subarray(8, 8 + spsBytes);
  if (avcC.length < 11 + spsBytes) throw damaged("avcC is too short");
  const pps = avcC.subarray(11 + spsBytes, 11 + spsBytes + view.getUint16(9 + spsBytes));
  return { sps, pps };
}

/** Returns the `avc1` entry with other parameter sets, which have the same profile and level. */
export function replaceParameterSets(
  sampleEntry: Uint8Array,
  { sps, pps }: { sps: Uint8Array; pps: Uint8Array },
): Uint8Array {
  const [profile, compatibility, level] = [sps[1]!, sps[2]!, sps[3]!];
  const extensions = new Uint8Array();
  const sets = { profile, compatibility, level, lengthSize: 4, sps: [sps], pps: [pps], extensions };
  const configuration = box("avcC", buildAvcConfig(sets));
  return box("avc1", sampleEntry.subarray(8, VISUAL_ENTRY_BYTES), configuration);
}

/** The frames to encode again: `samples` start with a keyframe; frame number `first` and those after it are needed. */
export type HeadFrames = { sampleEntry: Uint8Array; samples: readonly Uint8Array[]; first: number };

/** A process that waits for the frames of one head. Starting it takes longer than its work. */
export type HeadEncoder = ReturnType<typeof startHeadEncoder>;

export type HeadTools = { ffmpeg: Ffmpeg; sandbox: Sandbox };

/** Starts an encoder for heads of a video. It waits at most `MAX_IDLE_SECONDS`. */
export function startHeadEncoder(
  { ffmpeg, sandbox }: HeadTools,
  video: VideoStream,
  priority: SpawnOptions["priority"] = "interactive",
) {
  const child = startFfmpeg({
    ffmpeg,
    arguments: [
      ...[...QUIET_ARGUMENTS, "-copyts", "-protocol_whitelist", "pipe", "-codec_whitelist", "h264"],
      ...["-probesize", "500000", "-threads", "1", "-f", "mov", "-i", "pipe:0"],
      ...["-an", "-vf", `select='gte(t,${FIRST_SECONDS - BETWEEN_FRAMES_SECONDS})',format=yuv420p`],
      ...buildPassthroughArguments(ffmpeg.libavutil),
      ...["-threads", "2", ...buildPreviewEncoderArguments(video, FAST_X264)],
      ...["-protocol_whitelist", "pipe", "-f", "h264", "pipe:1"],
    ],
    limits: createWorkLimits(MAX_IDLE_SECONDS + MAX_HEAD_SECONDS),
    sandbox: { sandbox, view: { readOnly: [], writable: [], devices: false } },
    priority,
    stdin: "pipe",
    stdout: "pipe",
  });
  return {
    /** Resolves to the processor seconds of the process when it has ended, for any reason. Never rejects. */
    ended: measureCpuSeconds(child, ffmpeg),
    /** Ends the process when it is no longer needed. */
    stop: child.killNow,
    /** Encodes a head. Can be called once. Errors: `AppError` `processing_failed`; the signal's reason. */
    encode: async (frames: HeadFrames, signal?: AbortSignal): Promise<EncodedHead> => {
      const timer = setTimeout(child.killNow, MAX_HEAD_SECONDS * 1000);
      signal?.addEventListener("abort", child.killNow, { once: true });
      try {
        return await encodeWith(child, frames, signal);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", child.killNow);
        child.killNow();
      }
    },
  };
}

async function encodeWith(
  child: FfmpegChild,
  { sampleEntry, samples, first }: HeadFrames,
  signal: AbortSignal | undefined,
): Promise<EncodedHead> {
  signal?.throwIfAborted();
  const known = readParameterSets(sampleEntry);
  // The process was started without the number of the first frame, so the times convey it.
  const start = FIRST_SECONDS * TIMESCALE - first * FRAME_DURATION;
  const frames = samples.map((data, n) => ({ data, duration: FRAME_DURATION, isKey: n === 0 }));
  const input = Buffer.concat([
    ...writeInitSegment({ kind: "video", timescale: TIMESCALE, sampleEntry }),
    ...writeFragment(start, frames),
  ]);
  const writing = child.stdin
    .write(input)
    .then(() => child.stdin.end())
    .catch(() => {});
  const output = await readLimited(child.stdout, { maxBytes: MAX_OUTPUT_BYTES, stop: child.killNow });
  await writing;
  const outcome = await child.outcome;
  signal?.throwIfAborted();
  if (!outcome.ok) throw toFfmpegError(outcome);
  const head = parseHead(output, known);
  if (head.samples.length !== samples.length - first) throw damaged(`head of ${head.samples.length} frames`);
  return head;
}

/**
 * Reads the output of an encoder to its end. Errors: `AppError` `processing_failed` when it is too large; then calls
 * `stop`.
 */
export async function readLimited(
  stream: ReadableStream<Uint8Array>,
  { maxBytes, stop }: { maxBytes: number; stop: () => void },
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    bytes += part.length;
    if (bytes > maxBytes) {
      stop();
      throw damaged("head is too large");
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Splits an Annex B stream into samples of one slice each, without parameter sets. */
function parseHead(stream: Uint8Array, known: { sps: Uint8Array; pps: Uint8Array }): EncodedHead {
  const samples: Uint8Array[] = [];
  const found = { sps: known.sps, pps: known.pps };
  for (const unit of splitAnnexB(stream)) {
    const type = getNalType(unit);
    if (type === NAL_SPS) found.sps = unit;
    if (type === NAL_PPS) found.pps = unit;
    if (type !== NAL_SLICE && type !== NAL_IDR) continue;
    samples.push(buildPacket([unit]));
  }
  const isSame = Buffer.compare(found.sps, known.sps) === 0 && Buffer.compare(found.pps, known.pps) === 0;
  return { samples, parameterSets: isSame ? null : found };
}

/** Yields the NAL units between start codes, without the zero bytes before the codes. */
function* splitAnnexB(stream: Uint8Array): Generator<Uint8Array> {
  const bytes = Buffer.from(stream.buffer, stream.byteOffset, stream.byteLength);
  let start = bytes.indexOf(START_CODE);
  while (start >= 0) {
    const next = bytes.indexOf(START_CODE, start + 3);
    let end = next < 0 ? bytes.length : next;
    while (next >= 0 && end > start + 3 && bytes[end - 1] === 0) end--;
    if (end > start + 3) yield bytes.subarray(start + 3, end);
    start = next;
  }
}
