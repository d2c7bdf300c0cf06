/** MLT XML, for Shotcut, Kdenlive and `melt`. In and out points are inclusive. Definitions precede references. */
import { formatRemark } from "./clips";
import { toFramesPerSecond } from "./frame-rate";
import { type Clip, getRecordEnd, type Timeline } from "./model";
import { toOneLine } from "./one-line";
import { createElement, createTextElement, formatXml, type XmlElement } from "./xml";

/** Producers of the file: the normal one, and one without video and audio for disabled clips. */
const ENABLED_ID = "source";
const DISABLED_ID = "disabled";

/** Formats the document. Without a `root` attribute, relative paths are resolved against the document's folder. */
export function formatMlt(timeline: Timeline): string {
  const last = timeline.length - 1;
  const layers = [timeline.clips, ...timeline.alternates];
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
      createProperty("length", timeline.length),
      createProperty("eof", "pause"),
      createProperty("resource", "0"),
      createProperty("mlt_service", "color"),
      createProperty("set.test_audio", 0),
    ),
    createElement("playlist", { id: "background" }, createElement("entry", { producer: "black", in: 0, out: last })),
    layers.map((clips, layer) => createPlaylistElement(timeline, clips, layer)),
    createElement(
      "tractor",
      { id: "timeline", title: timeline.title, in: 0, out: last },
      createProperty("shotcut", 1),
      timeline.warnings.length > 0 ? createProperty("offcut:warnings", timeline.warnings.join(" ")) : null,
      createMarkersElement(timeline),
      createElement("track", { producer: "background" }),
      layers.map((_, layer) =>
        createElement("track", { producer: formatTrackId(layer), hide: timeline.media.video ? null : "video" }),
      ),
      layers.flatMap((_, layer) => createTransitions(layer + 1)),
    ),
  );
  return formatXml(root, null);
}

const createProperty = (name: string, value: string | number): XmlElement =>
  createTextElement("property", value, { name });

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
    createProperty("length", media.length),
    createProperty("eof", "pause"),
    createProperty("resource", formatResource(media.path)),
    createProperty("mlt_service", "avformat"),
    createProperty("seekable", 1),
    createProperty("audio_index", media.audio ? "auto" : -1),
    createProperty("shotcut:caption", toOneLine(media.name)),
    id === DISABLED_ID ? [createProperty("set.test_audio", 1), createProperty("set.test_image", 1)] : [],
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
    createProperty(`shotcut:${kind}`, 1),
    createProperty("shotcut:name", name),
    entries,
  );
}

function createEntryElement(clip: Clip): XmlElement {
  const remark = toOneLine(formatRemark(clip), 1000);
  return createElement(
    "entry",
    { producer: clip.enabled ? ENABLED_ID : DISABLED_ID, in: clip.source, out: clip.source + clip.length - 1 },
    remark === "" ? null : createProperty("shotcut:comment", remark),
  );
}

/** Mixes the audio of all tracks. The topmost video is shown. */
const createTransitions = (track: number): XmlElement[] => [
  createElement(
    "transition",
    { id: `mix${track}` },
    createProperty("a_track", 0),
    createProperty("b_track", track),
    createProperty("mlt_service", "mix"),
    createProperty("always_active", 1),
    createProperty("sum", 1),
  ),
];

const COLORS = { join: "#ff0000", review: "#ffc000" } as const;

/** Creates markers in Shotcut's format. */
function createMarkersElement(timeline: Timeline): XmlElement | null {
  if (timeline.markers.length === 0) return null;
  const clock = (frame: number) => formatClock(frame / toFramesPerSecond(timeline.rate));
  return createElement(
    "properties",
    { name: "shotcut:markers" },
    timeline.markers.map((marker, i) =>
      createElement(
        "properties",
        { name: String(i) },
        createProperty("text", toOneLine(marker.text)),
        createProperty("start", clock(marker.record)),
        createProperty("end", clock(marker.record)),
        createProperty("color", COLORS[marker.kind]),
      ),
    ),
  );
}

/** Formats seconds as `HH:MM:SS.mmm`. */
function formatClock(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const part = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, "0");
  const inMinute = milliseconds % 60_000;
  return `${part(milliseconds / 3_600_000)}:${part((milliseconds / 60_000) % 60)}:${part(inMinute / 1000)}.${part(inMinute % 1000, 3)}`;
}
