/**
 * Parts of a source's video as fragmented MP4, made of its own packets. Decoding starts at a keyframe, so frames before
 * the part may be needed to decode it, and with reordered frames also some after it. They take next to no time at its
 * edges, where no player shows them.
 */
import { AppError } from "../../domain/errors";
import type { SourceVideoTrack } from "../../domain/preview";
import { type FragmentSample, writeFragment, writeInitSegment } from "./fragment";
import { locateData, type OpenTrack, type PieceRequest, readSamples, TOLERANCE_SECONDS, withTrack } from "./piece";
import type { FileRange, PiecePart } from "./read-parts";
import type { Sample } from "./samples";

/** Maximum distance between the decode order and the display order of a packet. */
const MAX_DISPLACEMENT = 64;
/** Samples of a minute at 60 frames per second and of a group of pictures, with room. */
const MAX_SAMPLES = 16_384;
/** Number of hidden frames that are decoded faster than the frames to show would be encoded. */
const MAX_HIDDEN_FRAMES = 3;

/** A span of frames, in seconds. */
export type HeadSpan = { from: number; to: number };

/**
 * `head` is the part to encode if the piece starts inside a group of pictures; otherwise null. `parts` are the parts
 * after it, and empty if it is all.
 */
export type SourcePiece = { head: HeadSpan | null; parts: PiecePart[] };

/**
 * Returns the frames from `from` to `to`. Without `seek`, the frames before the first keyframe are left to be encoded.
 * With `seek`, the position to which a player seeks, the part starts with the keyframe before it, and nothing is
 * encoded.
 */
export const createSourcePiece = (
  request: PieceRequest<SourceVideoTrack> & { seek: number | null },
): Promise<SourcePiece> =>
  withTrack("video", request, async (track) => {
    const { keys: keyRecords, rotation } = request.track;
    const { timescale } = track.format;
    const tolerance = Math.round(TOLERANCE_SECONDS * timescale);
    const start = Math.round(request.from * timescale);
    const end = Math.max(start + 1, Math.round(request.to * timescale));
    const open: OpenTrack = { ...track, format: { ...track.format, rotation } };
    const keys = open.openSamples(keyRecords);
    const place = request.seek === null ? start : Math.max(start, Math.round(request.seek * timescale));
    const key = await keys.findLast(Math.min(place, end - 1) + tolerance);
    const [keyRecord, nextKey] = await keys.read(key, Math.min(keys.count, key + 2));
    const group = await readGroups(open, keyRecord!, end - tolerance);
    const first = findFirstShown(group, start + tolerance);
    const hidden = group.filter(({ time }) => time < first).length;
    const write = (from: number, samples: readonly Sample[]) => [
      ...writeInitSegment(open.format),
      ...writeSamples(open, samples, { start: from, end, tolerance }),
    ];
    if (request.seek !== null || hidden <= MAX_HIDDEN_FRAMES) return { head: null, parts: write(start, group) };
    if (nextKey === undefined || nextKey.time >= end - tolerance)
      return { head: { from: request.from, to: request.to }, parts: [] };
    const parts = write(nextKey.time, await readGroups(open, nextKey, end - tolerance));
    return { head: { from: request.from, to: nextKey.time / timescale }, parts };
  });

/**
 * Reads the samples from a keyframe to the last one that is needed to show the frames before `end`, in decode order.
 * Frames that are shown before the keyframe may refer to earlier groups of pictures, and are left out.
 */
async function readGroups(track: OpenTrack, key: Sample, end: number): Promise<Sample[]> {
  const { samples } = track;
  const first = key.offset;
  const found: Sample[] = [];
  let last = 0;
  for (let from = first; from < samples.count; from += MAX_DISPLACEMENT) {
    const block = await readSamples(samples, from, Math.min(samples.count, from + MAX_DISPLACEMENT));
    for (const sample of block) {
      if (found.length > 0 && sample.time < key.time) continue;
      found.push(sample);
      if (sample.time < end) last = found.length;
    }
    if (from - first > MAX_SAMPLES) throw new AppError("processing_failed", "The index of the recording is damaged.");
    // No packet is further from its place in display order.
    if (block.every(({ time }) => time >= end)) break;
  }
  return found.slice(0, Math.max(1, last));
}

/** Returns the time of the last frame at or before `time`, or of the first frame. */
const findFirstShown = (samples: readonly Sample[], time: number): number => {
  const before = samples.filter((sample) => sample.time <= time).map((sample) => sample.time);
  return before.length > 0 ? Math.max(...before) : Math.min(...samples.map((sample) => sample.time));
};

/** Writes the fragment. Frames that are only decoded are one unit apart, at the start and at the end. */
function writeSamples(
  track: OpenTrack,
  samples: readonly Sample[],
  { start, end, tolerance }: { start: number; end: number; tolerance: number },
): PiecePart[] {
  const first = findFirstShown(samples, start + tolerance);
  const times = samples.map(({ time }) => time).sort((a, b) => a - b);
  const before = times.filter((time) => time < first).length;
  const after = times.filter((time) => time >= end - tolerance && time > first).length;
  const shown = new Map(
    times.map((time, rank): [number, number] => {
      if (rank < before) return [time, start + rank];
      if (rank >= times.length - after) return [time, end - times.length + rank];
      return [time, rank === before ? start + before : Math.max(time, start + rank)];
    }),
  );
  // Browsers take the duration of a packet for that of its frame, also where frames are reordered and their durations
  // differ.
  const ordered = times.map((time) => shown.get(time)!);
  const durations = new Map(ordered.map((time, n) => [time, Math.max(1, (ordered[n + 1] ?? end) - time)]));
  const data = locateData(track, samples);
  let decoded = ordered[0]!;
  const fragment = samples.map(({ time, isKey }, n): FragmentSample<FileRange> => {
    const at = shown.get(time)!;
    const duration = durations.get(at)!;
    const delay = at - decoded;
    decoded += duration;
    return { data: data[n]!, duration, isKey: n === 0 || isKey, delay };
  });
  return writeFragment(ordered[0]!, fragment);
}
