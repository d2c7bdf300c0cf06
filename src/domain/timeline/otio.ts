/** OpenTimelineIO, for Resolve, Premiere and pipelines. */
import { reasonText } from "./clips";
import { rateValue } from "./frame-rate";
import type { Clip, Marker, Timeline } from "./model";
import { oneLine } from "./printable";

type Json = { [key: string]: Json | Json[] | string | number | boolean | null };

const MEDIA_KEY = "DEFAULT_MEDIA";
const COLORS = { join: "RED", review: "YELLOW" } as const;

/** The document. Source ranges are in the coordinates of the file's available range, its start timecode included. */
export function writeOtio(timeline: Timeline): string {
  const { media } = timeline;
  const layers = [timeline.clips, ...timeline.alternates];
  const links = linkIds(layers);
  const tracks = [
    ...(media.video ? layers.map((clips, i) => track(timeline, clips, "Video", `V${i + 1}`, links)) : []),
    ...(media.audio ? layers.map((clips, i) => track(timeline, clips, "Audio", `A${i + 1}`, links)) : []),
  ];
  const document: Json = {
    OTIO_SCHEMA: "Timeline.1",
    metadata: { offcut: { layout: timeline.layout, warnings: timeline.warnings as unknown as Json[] } },
    name: timeline.title,
    global_start_time: null,
    tracks: {
      OTIO_SCHEMA: "Stack.1",
      ...item("tracks", {}),
      markers: timeline.markers.map((marker) => markerOf(timeline, marker)),
      children: tracks,
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** What every item of a composition has. */
const item = (name: string, metadata: Json): Json => ({
  metadata,
  name,
  source_range: null,
  effects: [],
  markers: [],
  enabled: true,
});

/** Premiere keeps picture and sound together by a number that both carry. */
function linkIds(layers: readonly (readonly Clip[])[]): Map<Clip, number> {
  return new Map(layers.flat().map((clip, i) => [clip, i + 1]));
}

function track(
  timeline: Timeline,
  clips: readonly Clip[],
  kind: "Video" | "Audio",
  name: string,
  links: Map<Clip, number>,
): Json {
  const children: Json[] = [];
  let at = 0;
  for (const clip of clips) {
    if (clip.record > at) children.push(gap(timeline, clip.record - at));
    children.push(clipOf(timeline, clip, links.get(clip)!));
    at = clip.record + clip.length;
  }
  return { OTIO_SCHEMA: "Track.1", ...item(name, {}), children, kind };
}

const time = (timeline: Timeline, value: number): Json => ({
  OTIO_SCHEMA: "RationalTime.1",
  rate: rateValue(timeline.rate),
  value,
});

const range = (timeline: Timeline, start: number, length: number): Json => ({
  OTIO_SCHEMA: "TimeRange.1",
  duration: time(timeline, length),
  start_time: time(timeline, start),
});

const gap = (timeline: Timeline, length: number): Json => ({
  OTIO_SCHEMA: "Gap.1",
  ...item("", {}),
  source_range: range(timeline, 0, length),
});

function clipOf(timeline: Timeline, clip: Clip, link: number): Json {
  const { media } = timeline;
  const remark: Json = { text: clip.text, review: clip.review, removed: clip.reason && reasonText(clip.reason) };
  return {
    OTIO_SCHEMA: "Clip.2",
    ...item(oneLine(media.name), { offcut: remark, PremierePro_OTIO: { LinkID: link } }),
    source_range: range(timeline, media.start.frame + clip.source, clip.length),
    enabled: clip.enabled,
    media_references: {
      [MEDIA_KEY]: {
        OTIO_SCHEMA: "ExternalReference.1",
        metadata: {},
        name: oneLine(media.name),
        available_range: range(timeline, media.start.frame, media.length),
        available_image_bounds: null,
        target_url: media.url,
      },
    },
    active_media_reference_key: MEDIA_KEY,
  };
}

const markerOf = (timeline: Timeline, marker: Marker): Json => ({
  OTIO_SCHEMA: "Marker.2",
  metadata: {},
  name: oneLine(marker.text),
  color: COLORS[marker.kind],
  marked_range: range(timeline, marker.record, marker.length),
  comment: oneLine(marker.text),
});
