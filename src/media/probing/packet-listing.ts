/** Packet times as ffmpeg sees them, read from its `framecrc` output: for the containers that only ffmpeg can read. */
import { AppError } from "../../domain/errors";
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { inputArguments, QUIET } from "../arguments";
import { type Ffmpeg, failureOf, probeLimits, startFfmpeg } from "../ffmpeg";
import { letOthersRun } from "../parallel";

/** Presentation times of one stream's packets: container time, decode order, microseconds. */
export type PacketTimes = {
  times: Float64Array;
  /** End of the packet that is shown last. */
  end: Ticks;
  bytes: number;
  /** Length of the container's own time unit. */
  resolution: Ticks;
};

/** Of the first picture and the first sound; null where the file has none. */
export type PacketListing = { video: PacketTimes | null; audio: PacketTimes | null };

const LINES_AT_ONCE = 5_000;
const NO_TIME = -(2 ** 60);
const DISCARDED = 0x4;

/** How many packets a source may have: a day at 120 frames a second. */
export const PACKETS_MAX = 24 * 3600 * 120;

/**
 * Lists the packets of the first video and audio stream. Errors: `AppError` `corrupt_media` when the file cannot be read,
 * `media_limits_exceeded` with too many packets.
 */
export async function listPackets(options: {
  ffmpeg: Ffmpeg;
  path: string;
  demuxer: string;
  hasVideo: boolean;
  hasAudio: boolean;
  wallSeconds: number;
  signal?: AbortSignal;
}): Promise<PacketListing> {
  const maps = [...(options.hasVideo ? ["-map", "0:V:0"] : []), ...(options.hasAudio ? ["-map", "0:a:0"] : [])];
  const child = startFfmpeg({
    ffmpeg: options.ffmpeg,
    arguments: [
      ...[...QUIET, "-copyts"],
      ...inputArguments({ path: options.path, demuxer: options.demuxer }),
      ...[...maps, "-c", "copy", "-copyinkf", "-f", "framecrc", "pipe:1"],
    ],
    limits: probeLimits(options.wallSeconds),
    stdout: "pipe",
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  const streams = [new Collector(), new Collector()];
  try {
    let count = 0;
    for await (const line of linesOf(child.stdout)) {
      readLine(line, streams);
      if (++count % LINES_AT_ONCE === 0) await letOthersRun();
    }
  } finally {
    await child.kill();
  }
  options.signal?.throwIfAborted();
  const outcome = await child.outcome;
  // What was listed until then is not the whole file.
  if (outcome.timedOut) throw new AppError("media_limits_exceeded", "The file takes too long to read.");
  const listing = {
    video: options.hasVideo ? streams[0]!.result() : null,
    audio: options.hasAudio ? streams[options.hasVideo ? 1 : 0]!.result() : null,
  };
  if (!outcome.ok && listing.video === null && listing.audio === null)
    throw new AppError("corrupt_media", "the file cannot be read", { cause: failureOf(outcome) });
  return listing;
}

function readLine(line: string, streams: readonly Collector[]): void {
  const base = /^#tb (\d): (\d+)\/(\d+)$/.exec(line);
  if (base !== null) {
    const stream = streams[Number(base[1])];
    if (stream !== undefined) stream.unit = (Number(base[2]) * TICKS_PER_SECOND) / Number(base[3]);
    return;
  }
  if (line.startsWith("#")) return;
  const fields = line.split(",");
  const [index, dts, pts, duration, size] = fields.map(Number);
  const flags = Number(/F=(0x[0-9A-Fa-f]+)/.exec(line)?.[1] ?? 1);
  if (size === undefined || (flags & DISCARDED) !== 0) return;
  streams[index!]?.add({ dts: dts!, pts: pts!, duration: duration!, size });
}

class Collector {
  unit = 1;
  private times = new Float64Array(4096);
  private count = 0;
  private end = Number.NEGATIVE_INFINITY;
  private bytes = 0;

  add(packet: { dts: number; pts: number; duration: number; size: number }): void {
    const stamp = packet.pts > NO_TIME ? packet.pts : packet.dts;
    // An empty packet is how AVI says that the frame before stays.
    if (!(stamp > NO_TIME) || packet.size === 0) return;
    if (this.count >= PACKETS_MAX) throw new AppError("media_limits_exceeded", "the file has too many frames");
    if (this.count === this.times.length) {
      const larger = new Float64Array(this.count * 2);
      larger.set(this.times);
      this.times = larger;
    }
    this.times[this.count++] = Math.round(stamp * this.unit);
    this.end = Math.max(this.end, Math.round((stamp + Math.max(0, packet.duration)) * this.unit));
    this.bytes += packet.size;
  }

  result(): PacketTimes | null {
    if (this.count === 0) return null;
    return { times: this.times.slice(0, this.count), end: this.end, bytes: this.bytes, resolution: this.unit };
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
