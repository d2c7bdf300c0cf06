/** Writes the keyframes that a storyboard shows to a small file, because ffmpeg would decode all keyframes. */
import { type EncodedPacket, EncodedPacketSink } from "mediabunny";
import type { ProbedMedia } from "../../domain/media";
import { toSeconds } from "../../domain/time";
import { yieldToEventLoop } from "../../lib/event-loop";
import { readMp4Structure } from "../packets/mp4-structure";
import { openInput } from "../packets/open-input";
import { readTrackConfig, type VideoTrackPacket, writeVideoTrack } from "../packets/video-track";

const CODECS: readonly string[] = ["h264", "hevc"];
/** Maximum share of keyframes for which an excerpt is faster. */
const MAX_KEYFRAME_SHARE = 0.75;
const MAX_BYTES = 256 * 1024 ** 2;
const PACKETS_PER_YIELD = 1_000;
/** Times are rounded to ticks and to the units of the container. */
const ROUNDING_SECONDS = 1e-5;

type KeyframeRequest = {
  path: string;
  probed: ProbedMedia;
  /** Times on the clock of the source, in seconds, sorted. */
  times: readonly number[];
  outputPath: string;
  signal?: AbortSignal | undefined;
};

/**
 * Writes an MP4 file with the last keyframe at or before each time, the first keyframe and the last keyframe. Returns
 * the source time of the file's time 0, in seconds. Returns null and writes nothing if most keyframes are needed, if
 * they are too large, or if the container does not list them. Throws read and write errors, and the signal's reason.
 */
export async function writeKeyframeExcerpt({
  path,
  probed,
  times,
  outputPath,
  signal,
}: KeyframeRequest): Promise<number | null> {
  const { info } = probed;
  const video = info.video!;
  if (info.demuxer !== "mov" || !CODECS.includes(video.codec)) return null;
  const structure = await readMp4Structure(path);
  const tracks = structure?.tracks.filter(({ kind }) => kind === "video") ?? [];
  if (tracks.length !== 1 || tracks[0]!.hasComplexEdits || tracks[0]!.sampleDescriptionCount > 1) return null;
  using input = openInput(path);
  const track = await input.getPrimaryVideoTrack();
  if (track === null) return null;
  const sink = new EncodedPacketSink(track);
  const start = toSeconds(info.startPts);
  const chosen = await chooseKeyframes(
    sink,
    times.map((time) => start + time + ROUNDING_SECONDS),
    signal,
  );
  if (chosen === null) return null;
  const base = chosen[0]!.timestamp;
  const end = start + toSeconds(info.duration);
  async function* packets(): AsyncGenerator<VideoTrackPacket> {
    for (const [n, known] of chosen!.entries()) {
      signal?.throwIfAborted();
      const packet = await sink.getKeyPacket(known.timestamp);
      if (packet === null) throw new Error("A keyframe cannot be read.");
      // The last keyframe is shown up to the end.
      const duration = Math.max(packet.duration, (chosen![n + 1]?.timestamp ?? end) - packet.timestamp);
      yield { data: packet.data, type: "key", timestamp: packet.timestamp - base, duration };
    }
  }
  await writeVideoTrack({
    path: outputPath,
    config: await readTrackConfig(track),
    rotation: video.rotation,
    constantRate: null,
    packets: packets(),
  });
  return base - start;
}

/** Returns the keyframes for the times, without their data. Returns null if they are too many or too large. */
async function chooseKeyframes(
  sink: EncodedPacketSink,
  times: readonly number[],
  signal: AbortSignal | undefined,
): Promise<EncodedPacket[] | null> {
  const chosen: EncodedPacket[] = [];
  let count = 0;
  let bytes = 0;
  let at = 0;
  let last = await sink.getFirstKeyPacket({ metadataOnly: true });
  while (last !== null) {
    if (++count % PACKETS_PER_YIELD === 0) {
      await yieldToEventLoop();
      signal?.throwIfAborted();
    }
    const next: EncodedPacket | null = await sink.getNextKeyPacket(last, { metadataOnly: true });
    const until = next?.timestamp ?? Number.POSITIVE_INFINITY;
    if (until < last.timestamp) return null;
    const isShown = (times[at] ?? Number.POSITIVE_INFINITY) < until;
    while ((times[at] ?? Number.POSITIVE_INFINITY) < until) at++;
    if (isShown || count === 1 || next === null) {
      chosen.push(last);
      bytes += last.byteLength;
      if (bytes > MAX_BYTES) return null;
    }
    last = next;
  }
  return chosen.length === 0 || chosen.length > MAX_KEYFRAME_SHARE * count ? null : chosen;
}
