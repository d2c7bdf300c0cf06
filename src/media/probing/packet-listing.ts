/** Lists packet times with ffmpeg's `framecrc` muxer, for the containers that only ffmpeg can read. */
import { AppError } from "../../domain/errors";
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { yieldToEventLoop } from "../../lib/event-loop";
import { buildInputArguments, QUIET_ARGUMENTS } from "../arguments";
import { createProbeLimits, type Ffmpeg, startFfmpeg, toFfmpegError } from "../ffmpeg";

/** Presentation times of one stream's packets: container time, decode order, microseconds. */
export type PacketTimes = {
  times: Float64Array;
  /** End of the packet that is presented last. */
  end: Ticks;
  bytes: number;
  /** The container's time base. */
  resolution: Ticks;
};

/** The first video and audio stream; null where the file has none. */
export type PacketListing = { video: PacketTimes | null; audio: PacketTimes | null };

export type PacketListingOptions = {
  path: string;
  hasVideo: boolean;
  hasAudio: boolean;
  wallSeconds: number;
  signal?: AbortSignal | undefined;
};

const LINES_PER_YIELD = 5_000;
const MIN_TIMESTAMP = -(2 ** 60);
const DISCARD_FLAG = 0x4;

/** Maximum number of packets per source: a day at 120 frames per second. */
export const MAX_PACKETS = 24 * 3600 * 120;

/**
 * Lists the packets of the first video and audio stream. Errors: `AppError` `corrupt_media` if the file cannot be read,
 * `media_limits_exceeded` if it has too many packets.
 */
export async function listPackets(
  options: PacketListingOptions & { ffmpeg: Ffmpeg; demuxer: string },
): Promise<PacketListing> {
  const maps = [...(options.hasVideo ? ["-map", "0:V:0"] : []), ...(options.hasAudio ? ["-map", "0:a:0"] : [])];
  const child = startFfmpeg({
    ffmpeg: options.ffmpeg,
    arguments: [
      ...QUIET_ARGUMENTS,
      "-copyts",
      ...buildInputArguments({ path: options.path, demuxer: options.demuxer }),
      ...maps,
      ...["-c", "copy", "-copyinkf", "-f", "framecrc", "pipe:1"],
    ],
    limits: createProbeLimits(options.wallSeconds),
    stdout: "pipe",
    signal: options.signal,
  });
  const streams = [new PacketCollector(), new PacketCollector()];
  try {
    let count = 0;
    for await (const line of readLines(child.stdout)) {
      parseFramecrcLine(line, streams);
      if (++count % LINES_PER_YIELD === 0) await yieldToEventLoop();
    }
  } finally {
    await child.kill();
  }
  options.signal?.throwIfAborted();
  const outcome = await child.outcome;
  // After a timeout the list is incomplete.
  if (outcome.timedOut) throw new AppError("media_limits_exceeded", "Reading the file takes too long.");
  const listing = {
    video: options.hasVideo ? streams[0]!.result() : null,
    audio: options.hasAudio ? streams[options.hasVideo ? 1 : 0]!.result() : null,
  };
  if (!outcome.ok && listing.video === null && listing.audio === null)
    throw new AppError("corrupt_media", "The file cannot be read.", { cause: toFfmpegError(outcome) });
  return listing;
}

function parseFramecrcLine(line: string, streams: readonly PacketCollector[]): void {
  const timeBase = /^#tb (\d): (\d+)\/(\d+)$/.exec(line);
  if (timeBase !== null) {
    const stream = streams[Number(timeBase[1])];
    if (stream !== undefined) stream.unit = (Number(timeBase[2]) * TICKS_PER_SECOND) / Number(timeBase[3]);
    return;
  }
  if (line.startsWith("#")) return;
  const fields = line.split(",");
  const [index, dts, pts, duration, size] = fields.map(Number);
  const flags = Number(/F=(0x[0-9A-Fa-f]+)/.exec(line)?.[1] ?? 1);
  const stream = streams[index!];
  if (stream === undefined || size === undefined || (flags & DISCARD_FLAG) !== 0) return;
  const timestamp = pts! > MIN_TIMESTAMP ? pts! : dts!;
  // An empty packet in AVI means that the previous frame stays visible.
  if (!(timestamp > MIN_TIMESTAMP) || size === 0) return;
  const toTicks = (time: number) => Math.round(time * stream.unit);
  stream.add(toTicks(timestamp), toTicks(timestamp + Math.max(0, duration!)), size);
}

/** Collects the times of packets, possibly millions. */
export class PacketCollector {
  /** The time base of a listing. */
  unit = 1;
  private times = new Float64Array(4096);
  private count = 0;
  private end = Number.NEGATIVE_INFINITY;
  private bytes = 0;

  /** Errors: `AppError` `media_limits_exceeded`. */
  add(time: Ticks, end: Ticks, bytes: number): void {
    if (this.count >= MAX_PACKETS) throw new AppError("media_limits_exceeded", "The file has too many frames.");
    if (this.count === this.times.length)
      this.times = new Float64Array(Bun.concatArrayBuffers([this.times, new Float64Array(this.count)]));
    this.times[this.count++] = time;
    this.end = Math.max(this.end, end);
    this.bytes += bytes;
  }

  result(resolution = this.unit): PacketTimes | null {
    return this.count === 0
      ? null
      : { times: this.times.slice(0, this.count), end: this.end, bytes: this.bytes, resolution };
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
