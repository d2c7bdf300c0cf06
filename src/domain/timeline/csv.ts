/** A table for spreadsheets: one row a clip, times as frames, timecode and seconds. */
import { rateValue } from "./frame-rate";
import { type Clip, recordEnd, type Timeline } from "./model";
import { oneLine } from "./printable";
import { type TimecodeCount, timecodeLabel } from "./timecode";

const COLUMNS = [
  "track",
  "state",
  "record_in",
  "record_out",
  "source_in",
  "source_out",
  "record_start_frame",
  "source_start_frame",
  "frames",
  "source_start_seconds",
  "source_end_seconds",
  "reason",
  "text",
  "review",
  "file",
];

/** Rows end in CRLF. Track 1 is the main one, the other takes lie above. Record timecode starts at 00:00:00:00. */
export function writeCsv(timeline: Timeline): string {
  const tracks = [timeline.clips, ...timeline.alternates];
  const rows = tracks.flatMap((clips, track) => clips.map((clip) => rowOf(timeline, clip, track + 1)));
  return [COLUMNS, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function rowOf(timeline: Timeline, clip: Clip, track: number): (string | number)[] {
  const { media, counting, rate } = timeline;
  const record: TimecodeCount = { base: counting.base, dropFrame: timeline.dropFrame };
  const source: TimecodeCount = { base: counting.base, dropFrame: media.start.dropFrame };
  const seconds = (frame: number) => (frame / rateValue(rate)).toFixed(6);
  const out = clip.source + clip.length;
  return [
    track,
    stateOf(clip),
    timecodeLabel(clip.record, record),
    timecodeLabel(recordEnd(clip), record),
    timecodeLabel(media.start.frame + clip.source, source),
    timecodeLabel(media.start.frame + out, source),
    clip.record,
    clip.source,
    clip.length,
    seconds(clip.source),
    seconds(out),
    clip.reason ?? "",
    asText(clip.text),
    asText(clip.review ?? ""),
    asText(media.name),
  ];
}

function stateOf(clip: Clip): string {
  if (clip.enabled) return "kept";
  return clip.reason ? "removed" : "other take";
}

/** A spreadsheet takes a cell that begins like this for a formula; an apostrophe makes it text. */
const asText = (text: string): string => oneLine(text, 10_000).replace(/^(?=[=+\-@])/, "'");

const cell = (value: string | number): string =>
  /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
