/** MLT XML, for Shotcut, Kdenlive and `melt`. In and out points are inclusive frames; what is referred to is defined first. */
import { remarkOf } from "./clips";
import { rateValue } from "./frame-rate";
import { type Clip, recordEnd, type Timeline } from "./model";
import { oneLine } from "./printable";
import { element, textElement, writeXml, type XmlElement } from "./xml";

/** The file as it plays, and as it lies disabled on a track: the disabled one gives neither picture nor sound. */
const ENABLED = "source";
const DISABLED = "disabled";

/** The document. The `root` attribute stays out, so that a relative path is looked up beside it. */
export function writeMlt(timeline: Timeline): string {
  const last = timeline.length - 1;
  const layers = [timeline.clips, ...timeline.alternates];
  const hasDisabled = layers.some((clips) => clips.some((clip) => !clip.enabled));
  const root = element(
    "mlt",
    { LC_NUMERIC: "C", version: "7.0.0", title: timeline.title, producer: "timeline" },
    profileElement(timeline),
    producerElement(timeline, ENABLED),
    hasDisabled ? producerElement(timeline, DISABLED) : null,
    element(
      "producer",
      { id: "black", in: 0, out: last },
      property("length", timeline.length),
      property("eof", "pause"),
      property("resource", "0"),
      property("mlt_service", "color"),
      property("set.test_audio", 0),
    ),
    element("playlist", { id: "background" }, element("entry", { producer: "black", in: 0, out: last })),
    layers.map((clips, layer) => playlistElement(timeline, clips, layer)),
    element(
      "tractor",
      { id: "timeline", title: timeline.title, in: 0, out: last },
      property("shotcut", 1),
      timeline.warnings.length > 0 ? property("offcut:warnings", timeline.warnings.join(" ")) : null,
      markersElement(timeline),
      element("track", { producer: "background" }),
      layers.map((_, layer) =>
        element("track", { producer: trackId(layer), hide: timeline.media.video ? null : "video" }),
      ),
      layers.flatMap((_, layer) => transitions(layer + 1)),
    ),
  );
  return writeXml(root, null);
}

const property = (name: string, value: string | number): XmlElement => textElement("property", value, { name });

const trackId = (layer: number) => `track${layer + 1}`;

function profileElement({ media, rate }: Timeline): XmlElement {
  const { width, height } = media.video ?? { width: 1920, height: 1080 };
  return element("profile", {
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

function producerElement({ media }: Timeline, id: string): XmlElement {
  return element(
    "producer",
    { id, in: 0, out: media.length - 1 },
    property("length", media.length),
    property("eof", "pause"),
    property("resource", resourceOf(media.path)),
    property("mlt_service", "avformat"),
    property("seekable", 1),
    property("audio_index", media.audio ? "auto" : -1),
    property("shotcut:caption", oneLine(media.name)),
    id === DISABLED ? [property("set.test_audio", 1), property("set.test_image", 1)] : [],
  );
}

/** What is before a colon at the start of a resource is taken for the name of a service; a path may begin with its folder instead. */
function resourceOf(path: string): string {
  const isAbsolute = /^(?:\/|[a-z]:\/)/i.test(path);
  return !isAbsolute && path.includes(":") ? `./${path}` : path;
}

function playlistElement(timeline: Timeline, clips: readonly Clip[], layer: number): XmlElement {
  const entries: XmlElement[] = [];
  let at = 0;
  for (const clip of clips) {
    if (clip.record > at) entries.push(element("blank", { length: clip.record - at }));
    entries.push(entryElement(clip));
    at = recordEnd(clip);
  }
  const kind = timeline.media.video ? "video" : "audio";
  const name = `${kind === "video" ? "V" : "A"}${layer + 1}`;
  return element(
    "playlist",
    { id: trackId(layer) },
    property(`shotcut:${kind}`, 1),
    property("shotcut:name", name),
    entries,
  );
}

function entryElement(clip: Clip): XmlElement {
  const remark = oneLine(remarkOf(clip), 1000);
  return element(
    "entry",
    { producer: clip.enabled ? ENABLED : DISABLED, in: clip.source, out: clip.source + clip.length - 1 },
    remark === "" ? null : property("shotcut:comment", remark),
  );
}

/** The sounds of all tracks are added; the topmost picture shows. */
const transitions = (track: number): XmlElement[] => [
  element(
    "transition",
    { id: `mix${track}` },
    property("a_track", 0),
    property("b_track", track),
    property("mlt_service", "mix"),
    property("always_active", 1),
    property("sum", 1),
  ),
];

const COLORS = { join: "#ff0000", review: "#ffc000" } as const;

/** Markers as Shotcut keeps them. */
function markersElement(timeline: Timeline): XmlElement | null {
  if (timeline.markers.length === 0) return null;
  const clock = (frame: number) => clockValue(frame / rateValue(timeline.rate));
  return element(
    "properties",
    { name: "shotcut:markers" },
    timeline.markers.map((marker, i) =>
      element(
        "properties",
        { name: String(i) },
        property("text", oneLine(marker.text)),
        property("start", clock(marker.record)),
        property("end", clock(marker.record)),
        property("color", COLORS[marker.kind]),
      ),
    ),
  );
}

/** `HH:MM:SS.mmm` */
function clockValue(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const part = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, "0");
  const inMinute = milliseconds % 60_000;
  return `${part(milliseconds / 3_600_000)}:${part((milliseconds / 60_000) % 60)}:${part(inMinute / 1000)}.${part(inMinute % 1000, 3)}`;
}
