/** Places clips, alternate takes and markers of a plan on the timeline. */

import type { PlanJson } from "../plan-json";
import type { RemovalReason } from "../planning/rules";
import { fromSeconds } from "../time";
import type { FrameGrid } from "./frame-grid";
import type { Clip, ExportLayout, Marker } from "./model";

type PlacedClips = { clips: Clip[]; markers: Marker[] };
type KeptClip = Clip & { segmentIndex: number };

const REASON_TEXTS: Record<RemovalReason, string> = {
  silence: "silence",
  filler: "filler",
  retake: "retake",
  off_script: "off script",
  noise: "noise",
  manual: "removed by hand",
};

export const formatReason = (reason: RemovalReason): string => REASON_TEXTS[reason];

export const formatRemark = (clip: Clip): string =>
  [clip.reason ? REASON_TEXTS[clip.reason] : "", clip.text].filter((part) => part !== "").join(": ");

/** Returns the main track and the markers of a layout. */
export function placeClips(plan: PlanJson, grid: FrameGrid, layout: ExportLayout): PlacedClips {
  const kept = toKeptClips(plan, grid);
  return layout === "tight" ? placeTightLayout(kept) : placeReviewLayout(plan, kept, grid);
}

/**
 * Returns the kept segments in source frames, disjoint and at least one frame long. A segment whose only frame also
 * belongs to a neighbor is omitted.
 */
function toKeptClips(plan: PlanJson, grid: FrameGrid): KeptClip[] {
  const out: KeptClip[] = [];
  for (const [segment, part] of plan.segments.entries()) {
    const last = out.at(-1);
    const nextFree = last ? last.source + last.length : 0;
    const start = Math.max(nextFree, grid.start({ time: fromSeconds(part.start), frame: part.start_frame }));
    const end = grid.end({ time: fromSeconds(part.end), frame: part.end_frame });
    if (end <= start) continue;
    out.push({
      segmentIndex: segment,
      record: 0,
      source: start,
      length: end - start,
      enabled: true,
      reason: null,
      text: part.text,
      review: part.review,
    });
  }
  return out;
}

const toClip = ({ segmentIndex: _, ...clip }: KeptClip): Clip => clip;

function placeTightLayout(kept: readonly KeptClip[]): PlacedClips {
  const clips: Clip[] = [];
  let record = 0;
  for (const part of kept) {
    clips.push({ ...toClip(part), record });
    record += part.length;
  }
  return { clips, markers: clips.flatMap(createReviewMarkers) };
}

function placeReviewLayout(plan: PlanJson, kept: readonly KeptClip[], grid: FrameGrid): PlacedClips {
  const clips: Clip[] = [];
  const markers: Marker[] = [];
  let at = 0;
  let next = 0;
  for (const [index, part] of [...kept, null].entries()) {
    const end = part?.source ?? grid.length;
    const until = part ? fromSeconds(plan.segments[part.segmentIndex]!.start) : Number.POSITIVE_INFINITY;
    const removed: PlanJson["removed"] = [];
    for (; next < plan.removed.length && fromSeconds(plan.removed[next]!.start) < until; next++)
      removed.push(plan.removed[next]!);
    if (end > at) clips.push(...toRemovedClips(removed, at, end, grid));
    if (part && index > 0) markers.push(createJoinMarker(removed, at, end));
    if (!part) break;
    const clip = { ...toClip(part), record: part.source };
    clips.push(clip);
    markers.push(...createReviewMarkers(clip));
    at = end + part.length;
  }
  return { clips, markers };
}

/** Returns the removed spans of a gap as disabled clips that fill it. Spans under a frame join a neighbor. */
function toRemovedClips(removed: PlanJson["removed"], start: number, end: number, grid: FrameGrid): Clip[] {
  const out: Clip[] = [];
  let at = start;
  const add = (to: number, reason: RemovalReason, text: string) => {
    if (to <= at) return;
    out.push({ record: at, source: at, length: to - at, enabled: false, reason, text, review: null });
    at = to;
  };
  for (const [i, span] of removed.entries()) {
    const to = i === removed.length - 1 ? end : Math.min(end, grid.nearest(fromSeconds(span.end)));
    add(to, span.reason, span.text);
  }
  add(end, "manual", "");
  return out;
}

function createJoinMarker(removed: PlanJson["removed"], start: number, end: number): Marker {
  const seconds = removed.reduce((sum, span) => sum + span.end - span.start, 0);
  const reasons = [...new Set(removed.map((span) => REASON_TEXTS[span.reason]))];
  const text = reasons.length > 0 ? `Removed ${seconds.toFixed(1)} s: ${reasons.join(", ")}` : "Join";
  return { record: start, length: Math.max(1, end - start), kind: "join", text };
}

const createReviewMarkers = (clip: Clip): Marker[] =>
  clip.review === null
    ? []
    : [{ record: clip.record, length: clip.length, kind: "review", text: `Check: ${clip.review}` }];

/**
 * Returns the takes that were not chosen, each above the start of the chosen one, on as many tracks as necessary. A
 * take that would extend beyond the timeline's end is moved back.
 */
export function placeAlternates(plan: PlanJson, grid: FrameGrid): Clip[][] {
  const clips = plan.takes.flatMap((take) => {
    const chosen = take.candidates[take.chosen];
    if (!chosen) return [];
    const record = grid.start({ time: fromSeconds(chosen.start), frame: null });
    return take.candidates.flatMap((candidate, i): Clip[] => {
      const source = grid.start({ time: fromSeconds(candidate.start), frame: null });
      const length = grid.end({ time: fromSeconds(candidate.end), frame: null }) - source;
      if (i === take.chosen || length <= 0) return [];
      const label = `Take ${i + 1} of ${take.candidates.length}${candidate.complete ? "" : ", incomplete"}`;
      return [
        {
          record: Math.max(0, Math.min(record, grid.length - length)),
          source,
          length,
          enabled: false,
          reason: null,
          text: `${label}: ${take.line}`,
          review: null,
        },
      ];
    });
  });
  return packTracks(clips.sort((a, b) => a.record - b.record));
}

/** Puts clips, sorted by record offset, on the lowest tracks without overlaps. */
function packTracks(clips: readonly Clip[]): Clip[][] {
  const tracks: Clip[][] = [];
  for (const clip of clips) {
    const freeTrack = tracks.find((track) => track.at(-1)!.record + track.at(-1)!.length <= clip.record);
    if (freeTrack) freeTrack.push(clip);
    else tracks.push([clip]);
  }
  return tracks;
}
