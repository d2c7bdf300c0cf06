/**
 * CMX 3600 edit decision lists. An event number has three digits, so a timeline of more than 999 clips becomes several
 * complete lists in one file. Each has its own title and numbers starting at 001, with continuous record timecode.
 * Readers that take the whole file get one timeline; for readers that need short lists, it can be split at the titles.
 * Every line except events, titles and the counting mode is a comment.
 */
import { formatRemark } from "./clips";
import { type Clip, getRecordEnd, getSourceEnd, getTimecodeFormats, type Marker, type Timeline } from "./model";
import { toOneLine } from "./one-line";
import { formatTimecode, getHourFrame } from "./timecode";

const MAX_EVENTS = 999;
const MAX_FRAME_RATE_FPS = 60;
const MAX_TITLE_CHARACTERS = 60;

/** Returns why a timeline cannot be exported as an EDL, or null. */
export function findEdlObstacle({ media, timebase }: Timeline): string | null {
  if (!media.video) return "An EDL requires video, but this recording has only audio.";
  if (timebase.base > MAX_FRAME_RATE_FPS) return "An EDL supports at most 60 frames per second.";
  return null;
}

/** Formats the EDL. The record side starts at 01:00:00:00, the source side at the file's own timecode. */
export function formatEdl(timeline: Timeline): string {
  const { clips } = timeline;
  const lists: Clip[][] = [];
  for (let at = 0; at < clips.length; at += MAX_EVENTS) lists.push(clips.slice(at, at + MAX_EVENTS));
  const lines = lists.flatMap((list, i) => [
    `TITLE: ${toOneLine(timeline.title, MAX_TITLE_CHARACTERS)}${lists.length > 1 ? ` (${i + 1} of ${lists.length})` : ""}`,
    `FCM: ${timeline.dropFrame ? "DROP FRAME" : "NON-DROP FRAME"}`,
    ...(i === 0 ? timeline.warnings.map((warning) => `* NOTE: ${toOneLine(warning)}`) : []),
    "",
    ...formatEvents(timeline, list),
  ]);
  return lines.map((line) => `${line}\r\n`).join("");
}

function formatEvents(timeline: Timeline, list: readonly Clip[]): string[] {
  const { media, markers } = timeline;
  const { record, source } = getTimecodeFormats(timeline);
  const startFrame = getHourFrame(record);
  const name = toOneLine(media.name);
  const path = toOneLine(media.path);
  const byRecord = Map.groupBy(markers, (marker) => marker.record);
  return list.flatMap((clip, i) => {
    const times = [
      formatTimecode(media.start.frame + clip.source, source),
      formatTimecode(media.start.frame + getSourceEnd(clip), source),
      formatTimecode(startFrame + clip.record, record),
      formatTimecode(startFrame + getRecordEnd(clip), record),
    ];
    return [
      `${String(i + 1).padStart(3, "0")}  AX       ${formatChannels(timeline).padEnd(5)} C        ${times.join(" ")}`,
      `* FROM CLIP NAME: ${name}`,
      ...(path === name ? [] : [`* SOURCE FILE: ${path}`]),
      ...(clip.reason ? [`* REMOVED: ${toOneLine(formatRemark(clip), 200)}`] : []),
      ...(byRecord.get(clip.record) ?? []).flatMap((marker) =>
        formatMarker(marker, formatTimecode(startFrame + marker.record, record)),
      ),
    ];
  });
}

function formatChannels({ media: { audio } }: Timeline): string {
  if (!audio) return "V";
  return audio.channels === 1 ? "B" : "AA/V";
}

const COLORS = { join: "Red", review: "Yellow" } as const;

/** Formats a marker as an Avid locator, and in the form from which Resolve imports timeline markers. */
function formatMarker(marker: Marker, at: string): string[] {
  const text = toOneLine(marker.text, 200).replaceAll("|", "/");
  const color = COLORS[marker.kind];
  return [`* LOC: ${at} ${color.toUpperCase()} ${text}`, ` |C:ResolveColor${color} |M:${text} |D:${marker.length}`];
}
