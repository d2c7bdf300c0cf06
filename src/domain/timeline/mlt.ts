/** MLT XML, for Shotcut, Kdenlive and `melt`. In and out points are inclusive. Definitions precede references. */
import { formatClock } from "../subtitles/format";
import { formatRemark } from "./clips";
import { toFramesPerSecond } from "./frame-rate";
import { type Clip, getRecordEnd, getSourceEnd, listLayers, type Timeline } from "./model";
import { toOneLine } from "./one-line";
import { createElement, formatXml, type XmlElement } from "./xml";

/** Producers of the file: the normal one, and one without video and audio for disabled clips. */
const ENABLED_ID = "source";
const DISABLED_ID = "disabled";

/** Formats the document. Without a `root` attribute, relative paths are resolved against the document's folder. */
export function formatMlt(timeline: Timeline): string {
  const last = timeline.length - 1;
  const layers = listLayers(timeline);
  const hasDisabled = layers.some((clips) => clips.some((clip) => !clip.enabled));
  const root = createElement(
    "mlt",
    { LC_NUMERIC: "C", version: "7.0.0", title: timeline.title, producer: "timeline" },
    createProfileElement(timeline),
    createProducerElement(timeline, ENABLED_ID),
    hasDisabled ? createProducerElement(timeline, DISABLED_ID) : null,
    createElement(
      "producer",
      { id: "black", in: 0, out: last },
      createProperties({ length: timeline.length, eof: "pause" }),
      createProperties({ resource: "0", mlt_service: "color", "set.test_audio": 0 }),
    ),
    createElement("playlist", { id: "background" }, createElement("entry", { producer: "black", in: 0, out: last })),
    layers.map((clips, layer) => createPlaylistElement(timeline, clips, layer)),
    createElement(
      "tractor",
      { id: "timeline", title: timeline.title, in: 0, out: last },
      createProperties({ shotcut: 1 }),
      timeline.warnings.length > 0 ? createProperties({ "offcut:warnings": timeline.warnings.join(" ") }) : [],
      createMarkersElement(timeline),
      createElement("track", { producer: "background" }),
      layers.map((_, layer) =>
        createElement("track", { producer: formatTrackId(layer), hide: timeline.media.video ? null : "video" }),
      ),
      layers.map((_, layer) => createTransition(layer + 1)),
    ),
  );
  return formatXml(root, null);
}

const createProperties = (properties: Record<string, string | number>): XmlElement[] =>
  Object.entries(properties).map(([name, value]) => createElement("property", { name }, String(value)));

const formatTrackId = (layer: number) => `track${layer + 1}`;

function createProfileElement({ media, rate }: Timeline): XmlElement {
  const { width, height } = media.video ?? { width: 1920, height: 1080 };
  return createElement("profile", {
    description: "Offcut",
    width,
    height,
    progressive: 1,
    sample_aspect_num: 1,
    sample_aspect_den: 1,
    display_aspect_num: width,
    display_aspect_den: height,
    frame_rate_num: rate.num,
    frame_rate_den: rate.den,
    colorspace: media.video?.colorSpace?.startsWith("9-") ? 2020 : 709,
  });
}

function createProducerElement({ media }: Timeline, id: string): XmlElement {
  return createElement(
    "producer",
    { id, in: 0, out: media.length - 1 },
    createProperties({ length: media.length, eof: "pause", resource: formatResource(media.path) }),
    createProperties({ mlt_service: "avformat", seekable: 1, audio_index: media.audio ? "auto" : -1 }),
    createProperties({ "shotcut:caption": toOneLine(media.name) }),
    createProperties(id === DISABLED_ID ? { "set.test_audio": 1, "set.test_image": 1 } : {}),
  );
}

/** Formats a path as a resource. MLT reads the text before a colon as a service name; a `./` prefix prevents that. */
function formatResource(path: string): string {
  const isAbsolute = /^(?:\/|[a-z]:\/)/i.test(path);
  return !isAbsolute && path.includes(":") ? `./${path}` : path;
}

function createPlaylistElement(timeline: Timeline, clips: readonly Clip[], layer: number): XmlElement {
  const entries: XmlElement[] = [];
  let at = 0;
  for (const clip of clips) {
    if (clip.record > at) entries.push(createElement("blank", { length: clip.record - at }));
    entries.push(createEntryElement(clip));
    at = getRecordEnd(clip);
  }
  const kind = timeline.media.video ? "video" : "audio";
  const name = `${kind === "video" ? "V" : "A"}${layer + 1}`;
  return createElement(
    "playlist",
    { id: formatTrackId(layer) },
    createProperties({ [`shotcut:${kind}`]: 1, "shotcut:name": name }),
    entries,
  );
}

function createEntryElement(clip: Clip): XmlElement {
  const remark = toOneLine(formatRemark(clip), 1000);
  return createElement(
    "entry",
    { producer: clip.enabled ? ENABLED_ID : DISABLED_ID, in: clip.source, out: getSourceEnd(clip) - 1 },
    createProperties(remark === "" ? {} : { "shotcut:comment": remark }),
  );
}

/** Mixes the audio of all tracks. The topmost video is shown. */
const createTransition = (track: number): XmlElement =>
  createElement(
    "transition",
    { id: `mix${track}` },
    createProperties({ a_track: 0, b_track: track, mlt_service: "mix", always_active: 1, sum: 1 }),
  );

const COLORS = { join: "#ff0000", review: "#ffc000" } as const;

/** Creates markers in Shotcut's format. */
function createMarkersElement(timeline: Timeline): XmlElement | null {
  if (timeline.markers.length === 0) return null;
  const clock = (frame: number) => formatClock(Math.round((frame / toFramesPerSecond(timeline.rate)) * 1000), ".");
  return createElement(
    "properties",
    { name: "shotcut:markers" },
    timeline.markers.map((marker, i) =>
      createElement(
        "properties",
        { name: String(i) },
        createProperties({ text: toOneLine(marker.text), start: clock(marker.record), end: clock(marker.record) }),
        createProperties({ color: COLORS[marker.kind] }),
      ),
    ),
  );
}
