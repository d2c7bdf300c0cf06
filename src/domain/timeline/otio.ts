/** OpenTimelineIO, for Resolve, Premiere and pipelines. */
import { formatReason } from "./clips";
import { toFramesPerSecond } from "./frame-rate";
import { type Clip, getRecordEnd, listLayers, type Marker, type Timeline } from "./model";
import { toOneLine } from "./one-line";

type OtioJson = { [key: string]: OtioJson | OtioJson[] | string | number | boolean | null };

const MEDIA_KEY = "DEFAULT_MEDIA";
const COLORS = { join: "RED", review: "YELLOW" } as const;

/** Formats the document. Source ranges are in the coordinates of the file's range, from its start timecode. */
export function formatOtio(timeline: Timeline): string {
  const { media } = timeline;
  const layers = listLayers(timeline);
  // Premiere links a video and an audio clip that have the same ID.
  const links = new Map(layers.flat().map((clip, i) => [clip, i + 1]));
  const tracks = [
    ...(media.video ? layers.map((clips, i) => createTrack(timeline, clips, "Video", `V${i + 1}`, links)) : []),
    ...(media.audio ? layers.map((clips, i) => createTrack(timeline, clips, "Audio", `A${i + 1}`, links)) : []),
  ];
  const document: OtioJson = {
    OTIO_SCHEMA: "Timeline.1",
    metadata: { offcut: { layout: timeline.layout, warnings: timeline.warnings as unknown as OtioJson[] } },
    name: timeline.title,
    global_start_time: null,
    tracks: {
      OTIO_SCHEMA: "Stack.1",
      ...createItem("tracks", {}),
      markers: timeline.markers.map((marker) => createMarker(timeline, marker)),
      children: tracks,
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Returns the fields that every item of a composition has. */
const createItem = (name: string, metadata: OtioJson): OtioJson => ({
  metadata,
  name,
  source_range: null,
  effects: [],
  markers: [],
  enabled: true,
});

function createTrack(
  timeline: Timeline,
  clips: readonly Clip[],
  kind: "Video" | "Audio",
  name: string,
  links: Map<Clip, number>,
): OtioJson {
  const children: OtioJson[] = [];
  let at = 0;
  for (const clip of clips) {
    if (clip.record > at) children.push(createGap(timeline, clip.record - at));
    children.push(createClip(timeline, clip, links.get(clip)!));
    at = getRecordEnd(clip);
  }
  return { OTIO_SCHEMA: "Track.1", ...createItem(name, {}), children, kind };
}

const createRationalTime = (timeline: Timeline, value: number): OtioJson => ({
  OTIO_SCHEMA: "RationalTime.1",
  rate: toFramesPerSecond(timeline.rate),
  value,
});

const createTimeRange = (timeline: Timeline, start: number, length: number): OtioJson => ({
  OTIO_SCHEMA: "TimeRange.1",
  duration: createRationalTime(timeline, length),
  start_time: createRationalTime(timeline, start),
});

const createGap = (timeline: Timeline, length: number): OtioJson => ({
  OTIO_SCHEMA: "Gap.1",
  ...createItem("", {}),
  source_range: createTimeRange(timeline, 0, length),
});

function createClip(timeline: Timeline, clip: Clip, link: number): OtioJson {
  const { media } = timeline;
  const remark: OtioJson = { text: clip.text, review: clip.review, removed: clip.reason && formatReason(clip.reason) };
  return {
    OTIO_SCHEMA: "Clip.2",
    ...createItem(toOneLine(media.name), { offcut: remark, PremierePro_OTIO: { LinkID: link } }),
    source_range: createTimeRange(timeline, media.start.frame + clip.source, clip.length),
    enabled: clip.enabled,
    media_references: {
      [MEDIA_KEY]: {
        OTIO_SCHEMA: "ExternalReference.1",
        metadata: {},
        name: toOneLine(media.name),
        available_range: createTimeRange(timeline, media.start.frame, media.length),
        available_image_bounds: null,
        target_url: media.url,
      },
    },
    active_media_reference_key: MEDIA_KEY,
  };
}

const createMarker = (timeline: Timeline, marker: Marker): OtioJson => ({
  OTIO_SCHEMA: "Marker.2",
  metadata: {},
  name: toOneLine(marker.text),
  color: COLORS[marker.kind],
  marked_range: createTimeRange(timeline, marker.record, marker.length),
  comment: toOneLine(marker.text),
});
