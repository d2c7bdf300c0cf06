/** CSV for spreadsheets: one row per clip, with times as frames, timecode and seconds. */
import { escapeFormula, formatCsvRow } from "../csv";
import { toFramesPerSecond } from "./frame-rate";
import { type Clip, getRecordEnd, getSourceEnd, getTimecodeFormats, listLayers, type Timeline } from "./model";
import { toOneLine } from "./one-line";
import { formatTimecode } from "./timecode";

const COLUMNS = [
  ...["track", "state", "record_in", "record_out", "source_in", "source_out"],
  ...["record_start_frame", "source_start_frame", "frames", "source_start_seconds", "source_end_seconds"],
  ...["reason", "text", "review", "file"],
];

/**
 * Formats the timeline with CRLF line ends. Track 1 is the main track; the tracks above it contain the alternate takes.
 * Record timecode starts at 00:00:00:00.
 */
export function formatCsv(timeline: Timeline): string {
  const rows = listLayers(timeline).flatMap((clips, n) => clips.map((clip) => toRow(timeline, clip, n + 1)));
  return [COLUMNS, ...rows].map(formatCsvRow).join("");
}

function toRow(timeline: Timeline, clip: Clip, track: number): (string | number)[] {
  const { media, rate } = timeline;
  const { record, source } = getTimecodeFormats(timeline);
  const seconds = (frame: number) => (frame / toFramesPerSecond(rate)).toFixed(6);
  const out = getSourceEnd(clip);
  return [
    track,
    toState(clip),
    formatTimecode(clip.record, record),
    formatTimecode(getRecordEnd(clip), record),
    formatTimecode(media.start.frame + clip.source, source),
    formatTimecode(media.start.frame + out, source),
    clip.record,
    clip.source,
    clip.length,
    seconds(clip.source),
    seconds(out),
    clip.reason ?? "",
    toTextCell(clip.text),
    toTextCell(clip.review ?? ""),
    toTextCell(media.name),
  ];
}

function toState(clip: Clip): string {
  if (clip.enabled) return "kept";
  return clip.reason ? "removed" : "other take";
}

const toTextCell = (text: string): string => escapeFormula(toOneLine(text, 10_000));
