/** Final Cut Pro 7 XML (xmeml 5), for Premiere, Resolve and Media Composer's relatives. */
import type { Rational } from "../time";
import { remarkOf } from "./clips";
import { countingOf } from "./frame-rate";
import { type Clip, type Marker, recordEnd, type Timeline, type TimelineMedia } from "./model";
import { oneLine } from "./printable";
import { timecodeFrame, timecodeLabel } from "./timecode";
import { element, textElement, writeXml, type XmlElement } from "./xml";

const FILE = "file-1";
const MASTER_CLIP = "masterclip-1";
const MOST_AUDIO_TRACKS = 16;

/** One clip of the timeline with its place; the ids of its items are made from it. */
type Placed = { clip: Clip; layer: number; index: number };
type Kind = "video" | "audio";

/** The document. The sequence starts at 01:00:00:00. */
export function writeFcp7Xml(timeline: Timeline): string {
  const { counting, rate, dropFrame } = timeline;
  const hour = timecodeFrame({ hours: 1, minutes: 0, seconds: 0, frames: 0 }, { base: counting.base, dropFrame });
  const sequence = element(
    "sequence",
    { id: "sequence-1" },
    textElement("name", timeline.title),
    textElement("duration", timeline.length),
    rateElement(rate),
    timecodeElement(hour, rate, dropFrame),
    mediaElement(timeline),
    timeline.warnings.map((warning) =>
      markerElement({ record: 0, length: 1, kind: "review", text: `Note: ${warning}` }),
    ),
    timeline.markers.map(markerElement),
  );
  return writeXml(element("xmeml", { version: "5" }, sequence), "xmeml");
}

/** 23.976 is timebase 24 with ntsc TRUE. */
function rateElement(rate: Rational): XmlElement {
  const { base, slowed } = countingOf(rate)!;
  return element("rate", {}, textElement("timebase", base), textElement("ntsc", slowed ? "TRUE" : "FALSE"));
}

const timecodeElement = (frame: number, rate: Rational, dropFrame: boolean): XmlElement =>
  element(
    "timecode",
    {},
    rateElement(rate),
    textElement("string", timecodeLabel(frame, { base: countingOf(rate)!.base, dropFrame })),
    textElement("frame", frame),
    textElement("displayformat", dropFrame ? "DF" : "NDF"),
  );

function mediaElement(timeline: Timeline): XmlElement {
  const { media } = timeline;
  const layers = [timeline.clips, ...timeline.alternates].map((clips, layer) =>
    clips.map((clip, index): Placed => ({ clip, layer, index })),
  );
  const itemOf = itemWriter(timeline);
  const format = element("format", {}, pictureCharacteristics(media, timeline.rate));
  const video = media.video
    ? layers.map((placed) =>
        trackElement(
          {},
          placed.map((item) => itemOf(item, "video", 0)),
        ),
      )
    : [];
  const channels = audioTracks(media);
  const audio = layers.flatMap((placed) =>
    Array.from({ length: channels }, (_, channel) =>
      trackElement(
        stereoTrack(channels, channel),
        placed.map((item) => itemOf(item, "audio", channel)),
        channel + 1,
      ),
    ),
  );
  return element(
    "media",
    {},
    element("video", {}, format, video),
    element(
      "audio",
      {},
      textElement("numOutputChannels", 2),
      element("format", {}, soundCharacteristics(media.audio?.sampleRate ?? 48_000)),
      audio,
    ),
  );
}

const audioTracks = ({ audio }: TimelineMedia): number => Math.min(MOST_AUDIO_TRACKS, audio?.channels ?? 0);

/** How Premiere says that two mono tracks are the sides of one stereo track. */
const stereoTrack = (channels: number, channel: number): Record<string, string | number> =>
  channels === 2 ? { currentExplodedTrackIndex: channel, totalExplodedTrackCount: 2, premiereTrackType: "Stereo" } : {};

const trackElement = (
  attributes: Record<string, string | number>,
  items: readonly XmlElement[],
  outputChannel: number | null = null,
): XmlElement =>
  element(
    "track",
    attributes,
    items,
    textElement("enabled", "TRUE"),
    textElement("locked", "FALSE"),
    outputChannel === null ? null : textElement("outputchannelindex", outputChannel),
  );

/** Writes clip items; the first one holds the file's whole description, the others refer to it. */
function itemWriter(timeline: Timeline): (placed: Placed, kind: Kind, channel: number) => XmlElement {
  const { media, rate } = timeline;
  const name = oneLine(media.name);
  const channels = audioTracks(media);
  let isDescribed = false;
  const describeFile = () => {
    if (isDescribed) return element("file", { id: FILE });
    isDescribed = true;
    return fileElement(timeline);
  };
  return (placed, kind, channel) => {
    const { clip } = placed;
    const remark = oneLine(remarkOf(clip), 1000);
    return element(
      "clipitem",
      { id: itemId(placed, kind, channel), premiereChannelType: kind === "audio" && channels === 2 ? "stereo" : null },
      textElement("masterclipid", MASTER_CLIP),
      textElement("name", name),
      textElement("enabled", clip.enabled ? "TRUE" : "FALSE"),
      textElement("duration", media.length),
      rateElement(rate),
      textElement("start", clip.record),
      textElement("end", recordEnd(clip)),
      textElement("in", clip.source),
      textElement("out", clip.source + clip.length),
      describeFile(),
      kind === "audio"
        ? element("sourcetrack", {}, textElement("mediatype", "audio"), textElement("trackindex", channel + 1))
        : null,
      links(placed, media.video !== null, channels),
      remark === "" ? null : element("comments", {}, textElement("mastercomment1", remark)),
    );
  };
}

const itemId = ({ layer, index }: Placed, kind: Kind, channel: number): string =>
  kind === "video" ? `clipitem-v${layer + 1}-${index + 1}` : `clipitem-a${layer + 1}.${channel + 1}-${index + 1}`;

/** Picture and sound of one clip move together. Nothing to link when the clip is a single item. */
function links(placed: Placed, hasPicture: boolean, channels: number): XmlElement[] {
  const link = (kind: Kind, channel: number, track: number) =>
    element(
      "link",
      {},
      textElement("linkclipref", itemId(placed, kind, channel)),
      textElement("mediatype", kind),
      textElement("trackindex", track),
      textElement("clipindex", placed.index + 1),
    );
  const all = [
    ...(hasPicture ? [link("video", 0, placed.layer + 1)] : []),
    ...Array.from({ length: channels }, (_, channel) => link("audio", channel, placed.layer * channels + channel + 1)),
  ];
  return all.length > 1 ? all : [];
}

function fileElement({ media }: Timeline): XmlElement {
  const { audio } = media;
  return element(
    "file",
    { id: FILE },
    textElement("name", oneLine(media.name)),
    textElement("pathurl", media.url),
    rateElement(media.rate),
    textElement("duration", media.ownLength),
    timecodeElement(media.start.ownFrame, media.rate, media.start.dropFrame),
    element(
      "media",
      {},
      media.video
        ? element("video", {}, textElement("duration", media.ownLength), pictureCharacteristics(media, media.rate))
        : null,
      audio
        ? element("audio", {}, soundCharacteristics(audio.sampleRate), textElement("channelcount", audio.channels))
        : null,
    ),
  );
}

const pictureCharacteristics = ({ video }: TimelineMedia, rate: Rational): XmlElement =>
  element(
    "samplecharacteristics",
    {},
    rateElement(rate),
    textElement("width", video?.width ?? 1920),
    textElement("height", video?.height ?? 1080),
    textElement("anamorphic", "FALSE"),
    textElement("pixelaspectratio", "square"),
    textElement("fielddominance", "none"),
  );

const soundCharacteristics = (sampleRate: number): XmlElement =>
  element("samplecharacteristics", {}, textElement("depth", 16), textElement("samplerate", sampleRate));

/** `out` of -1 is a marker without length. */
const markerElement = (marker: Pick<Marker, "record" | "text" | "kind" | "length">): XmlElement =>
  element(
    "marker",
    {},
    textElement("comment", oneLine(marker.text)),
    textElement("name", marker.kind === "join" ? "Join" : "Check"),
    textElement("in", marker.record),
    textElement("out", -1),
  );
