/**
 * CMX 3600 edit decision lists. An event number has three digits, so a timeline of more than 999 clips is written as several complete
 * lists in one file, each with its own title and numbers from 001 on, the record timecode going on from list to list: a reader that takes
 * the file whole sees one timeline, and one that wants short lists can split it at the titles. Every line but events, titles and the
 * counting mode is a comment.
 */
import { remarkOf } from "./clips";
import { type Clip, type Marker, recordEnd, type Timeline } from "./model";
import { oneLine } from "./printable";
import { timecodeFrame, timecodeLabel } from "./timecode";

const MOST_EVENTS = 999;
const FASTEST_RATE = 60;
const TITLE_CHARACTERS = 60;

/** Why a timeline cannot be an EDL; null when it can. */
export function edlObstacle({ media, counting }: Timeline): string | null {
  if (!media.video) return "An EDL needs a picture: this recording has sound only.";
  if (counting.base > FASTEST_RATE) return "An EDL counts at most 60 frames per second.";
  return null;
}

/** The list. The record side starts at 01:00:00:00; the source side at the file's own timecode. */
export function writeEdl(timeline: Timeline): string {
  const { clips } = timeline;
  const lists: Clip[][] = [];
  for (let at = 0; at < clips.length; at += MOST_EVENTS) lists.push(clips.slice(at, at + MOST_EVENTS));
  const lines = lists.flatMap((list, i) => [
    `TITLE: ${oneLine(timeline.title, TITLE_CHARACTERS)}${lists.length > 1 ? ` (${i + 1} of ${lists.length})` : ""}`,
    `FCM: ${timeline.dropFrame ? "DROP FRAME" : "NON-DROP FRAME"}`,
    ...(i === 0 ? timeline.warnings.map((warning) => `* NOTE: ${oneLine(warning)}`) : []),
    "",
    ...writeEvents(timeline, list),
  ]);
  return lines.map((line) => `${line}\r\n`).join("");
}

function writeEvents(timeline: Timeline, list: readonly Clip[]): string[] {
  const { media, markers } = timeline;
  const record = { base: timeline.counting.base, dropFrame: timeline.dropFrame };
  const source = { base: timeline.counting.base, dropFrame: media.start.dropFrame };
  const hour = timecodeFrame({ hours: 1, minutes: 0, seconds: 0, frames: 0 }, record);
  const name = oneLine(media.name);
  const path = oneLine(media.path);
  const byRecord = Map.groupBy(markers, (marker) => marker.record);
  return list.flatMap((clip, i) => {
    const times = [
      timecodeLabel(media.start.frame + clip.source, source),
      timecodeLabel(media.start.frame + clip.source + clip.length, source),
      timecodeLabel(hour + clip.record, record),
      timecodeLabel(hour + recordEnd(clip), record),
    ];
    return [
      `${String(i + 1).padStart(3, "0")}  AX       ${channelsOf(timeline).padEnd(5)} C        ${times.join(" ")}`,
      `* FROM CLIP NAME: ${name}`,
      ...(path === name ? [] : [`* SOURCE FILE: ${path}`]),
      ...(clip.reason ? [`* REMOVED: ${oneLine(remarkOf(clip), 200)}`] : []),
      ...(byRecord.get(clip.record) ?? []).flatMap((marker) =>
        markerLines(marker, timecodeLabel(hour + marker.record, record)),
      ),
    ];
  });
}

function channelsOf({ media: { audio } }: Timeline): string {
  if (!audio) return "V";
  return audio.channels === 1 ? "B" : "AA/V";
}

const COLORS = { join: "Red", review: "Yellow" } as const;

/** A marker as Avid's locator, and in the form that Resolve reads timeline markers from. */
function markerLines(marker: Marker, at: string): string[] {
  const text = oneLine(marker.text, 200).replaceAll("|", "/");
  const color = COLORS[marker.kind];
  return [`* LOC: ${at} ${color.toUpperCase()} ${text}`, ` |C:ResolveColor${color} |M:${text} |D:${marker.length}`];
}
