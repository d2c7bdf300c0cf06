/** Final Cut Pro 7 XML (xmeml 5), for Premiere Pro, Resolve and related editors. */
import type { Rational } from "../time";
import { formatRemark } from "./clips";
import { findTimebase } from "./frame-rate";
import { type Clip, getRecordEnd, type Marker, type Timeline, type TimelineMedia } from "./model";
import { toOneLine } from "./one-line";
import { formatTimecode, toFrameNumber } from "./timecode";
import { createElement, createTextElement, formatXml, type XmlElement } from "./xml";

const FILE_ID = "file-1";
const MASTER_CLIP_ID = "masterclip-1";
const MAX_AUDIO_TRACKS = 16;

/** A clip and its position on the timeline, from which its item ids are derived. */
type PlacedClip = { clip: Clip; layer: number; index: number };
type TrackKind = "video" | "audio";

/** Formats the document. The sequence starts at 01:00:00:00. */
export function formatFcp7Xml(timeline: Timeline): string {
  const { timebase, rate, dropFrame } = timeline;
  const startFrame = toFrameNumber({ hours: 1, minutes: 0, seconds: 0, frames: 0 }, { base: timebase.base, dropFrame });
  const sequence = createElement(
    "sequence",
    { id: "sequence-1" },
    createTextElement("name", timeline.title),
    createTextElement("duration", timeline.length),
    createRateElement(rate),
    createTimecodeElement(startFrame, rate, dropFrame),
    createMediaElement(timeline),
    timeline.warnings.map((warning) =>
      createMarkerElement({ record: 0, length: 1, kind: "review", text: `Note: ${warning}` }),
    ),
    timeline.markers.map(createMarkerElement),
  );
  return formatXml(createElement("xmeml", { version: "5" }, sequence), "xmeml");
}

/** Creates a `rate` element: 23.976 is timebase 24 with ntsc TRUE. */
function createRateElement(rate: Rational): XmlElement {
  const { base, ntsc } = findTimebase(rate)!;
  return createElement(
    "rate",
    {},
    createTextElement("timebase", base),
    createTextElement("ntsc", ntsc ? "TRUE" : "FALSE"),
  );
}

const createTimecodeElement = (frame: number, rate: Rational, dropFrame: boolean): XmlElement =>
  createElement(
    "timecode",
    {},
    createRateElement(rate),
    createTextElement("string", formatTimecode(frame, { base: findTimebase(rate)!.base, dropFrame })),
    createTextElement("frame", frame),
    createTextElement("displayformat", dropFrame ? "DF" : "NDF"),
  );

function createMediaElement(timeline: Timeline): XmlElement {
  const { media } = timeline;
  const layers = [timeline.clips, ...timeline.alternates].map((clips, layer) =>
    clips.map((clip, index): PlacedClip => ({ clip, layer, index })),
  );
  const createItem = createItemFactory(timeline);
  const format = createElement("format", {}, createVideoCharacteristics(media, timeline.rate));
  const video = media.video
    ? layers.map((placed) =>
        createTrackElement(
          {},
          placed.map((item) => createItem(item, "video", 0)),
        ),
      )
    : [];
  const channels = countAudioTracks(media);
  const audio = layers.flatMap((placed) =>
    Array.from({ length: channels }, (_, channel) =>
      createTrackElement(
        createStereoAttributes(channels, channel),
        placed.map((item) => createItem(item, "audio", channel)),
        channel + 1,
      ),
    ),
  );
  return createElement(
    "media",
    {},
    createElement("video", {}, format, video),
    createElement(
      "audio",
      {},
      createTextElement("numOutputChannels", 2),
      createElement("format", {}, createAudioCharacteristics(media.audio?.sampleRate ?? 48_000)),
      audio,
    ),
  );
}

const countAudioTracks = ({ audio }: TimelineMedia): number => Math.min(MAX_AUDIO_TRACKS, audio?.channels ?? 0);

/** Returns Premiere's attributes for two mono tracks that form one stereo track. */
const createStereoAttributes = (channels: number, channel: number): Record<string, string | number> =>
  channels === 2 ? { currentExplodedTrackIndex: channel, totalExplodedTrackCount: 2, premiereTrackType: "Stereo" } : {};

const createTrackElement = (
  attributes: Record<string, string | number>,
  items: readonly XmlElement[],
  outputChannel: number | null = null,
): XmlElement =>
  createElement(
    "track",
    attributes,
    items,
    createTextElement("enabled", "TRUE"),
    createTextElement("locked", "FALSE"),
    outputChannel === null ? null : createTextElement("outputchannelindex", outputChannel),
  );

/** Returns a function that creates clip items. The first one describes the file, the others refer to it. */
function createItemFactory(timeline: Timeline): (placed: PlacedClip, kind: TrackKind, channel: number) => XmlElement {
  const { media, rate } = timeline;
  const name = toOneLine(media.name);
  const channels = countAudioTracks(media);
  let isDescribed = false;
  const describeFile = () => {
    if (isDescribed) return createElement("file", { id: FILE_ID });
    isDescribed = true;
    return createFileElement(timeline);
  };
  return (placed, kind, channel) => {
    const { clip } = placed;
    const remark = toOneLine(formatRemark(clip), 1000);
    return createElement(
      "clipitem",
      {
        id: formatItemId(placed, kind, channel),
        premiereChannelType: kind === "audio" && channels === 2 ? "stereo" : null,
      },
      createTextElement("masterclipid", MASTER_CLIP_ID),
      createTextElement("name", name),
      createTextElement("enabled", clip.enabled ? "TRUE" : "FALSE"),
      createTextElement("duration", media.length),
      createRateElement(rate),
      createTextElement("start", clip.record),
      createTextElement("end", getRecordEnd(clip)),
      createTextElement("in", clip.source),
      createTextElement("out", clip.source + clip.length),
      describeFile(),
      kind === "audio"
        ? createElement(
            "sourcetrack",
            {},
            createTextElement("mediatype", "audio"),
            createTextElement("trackindex", channel + 1),
          )
        : null,
      createLinks(placed, media.video !== null, channels),
      remark === "" ? null : createElement("comments", {}, createTextElement("mastercomment1", remark)),
    );
  };
}

const formatItemId = ({ layer, index }: PlacedClip, kind: TrackKind, channel: number): string =>
  kind === "video" ? `clipitem-v${layer + 1}-${index + 1}` : `clipitem-a${layer + 1}.${channel + 1}-${index + 1}`;

/** Links the video and audio items of a clip, so that they move together. A single item needs no link. */
function createLinks(placed: PlacedClip, hasVideo: boolean, channels: number): XmlElement[] {
  const link = (kind: TrackKind, channel: number, track: number) =>
    createElement(
      "link",
      {},
      createTextElement("linkclipref", formatItemId(placed, kind, channel)),
      createTextElement("mediatype", kind),
      createTextElement("trackindex", track),
      createTextElement("clipindex", placed.index + 1),
    );
  const allLinks = [
    ...(hasVideo ? [link("video", 0, placed.layer + 1)] : []),
    ...Array.from({ length: channels }, (_, channel) => link("audio", channel, placed.layer * channels + channel + 1)),
  ];
  return allLinks.length > 1 ? allLinks : [];
}

function createFileElement({ media }: Timeline): XmlElement {
  const { audio } = media;
  return createElement(
    "file",
    { id: FILE_ID },
    createTextElement("name", toOneLine(media.name)),
    createTextElement("pathurl", media.url),
    createRateElement(media.rate),
    createTextElement("duration", media.nativeLength),
    createTimecodeElement(media.start.nativeFrame, media.rate, media.start.dropFrame),
    createElement(
      "media",
      {},
      media.video
        ? createElement(
            "video",
            {},
            createTextElement("duration", media.nativeLength),
            createVideoCharacteristics(media, media.rate),
          )
        : null,
      audio
        ? createElement(
            "audio",
            {},
            createAudioCharacteristics(audio.sampleRate),
            createTextElement("channelcount", audio.channels),
          )
        : null,
    ),
  );
}

const createVideoCharacteristics = ({ video }: TimelineMedia, rate: Rational): XmlElement =>
  createElement(
    "samplecharacteristics",
    {},
    createRateElement(rate),
    createTextElement("width", video?.width ?? 1920),
    createTextElement("height", video?.height ?? 1080),
    createTextElement("anamorphic", "FALSE"),
    createTextElement("pixelaspectratio", "square"),
    createTextElement("fielddominance", "none"),
  );

const createAudioCharacteristics = (sampleRate: number): XmlElement =>
  createElement(
    "samplecharacteristics",
    {},
    createTextElement("depth", 16),
    createTextElement("samplerate", sampleRate),
  );

/** Creates a `marker` element. An `out` of -1 is a marker without duration. */
const createMarkerElement = (marker: Pick<Marker, "record" | "text" | "kind" | "length">): XmlElement =>
  createElement(
    "marker",
    {},
    createTextElement("comment", toOneLine(marker.text)),
    createTextElement("name", marker.kind === "join" ? "Join" : "Check"),
    createTextElement("in", marker.record),
    createTextElement("out", -1),
  );
