/** Final Cut Pro 7 XML (xmeml 5), for Premiere Pro, Resolve and related editors. */
import type { Rational } from "../time";
import { formatRemark } from "./clips";
import { findTimebase } from "./frame-rate";
import {
  type Clip,
  getRecordEnd,
  getSourceEnd,
  listLayers,
  type Marker,
  type Timeline,
  type TimelineMedia,
} from "./model";
import { toOneLine } from "./one-line";
import { formatTimecode, getHourFrame } from "./timecode";
import { createElement, createTextElements, formatXml, type XmlElement } from "./xml";

const FILE_ID = "file-1";
const MASTER_CLIP_ID = "masterclip-1";
const MAX_AUDIO_TRACKS = 16;

/** A clip and its position on the timeline, from which its item ids are derived. */
type PlacedClip = { clip: Clip; layer: number; index: number };
type TrackKind = "video" | "audio";

/** Formats the document. The sequence starts at 01:00:00:00. */
export function formatFcp7Xml(timeline: Timeline): string {
  const { timebase, rate, dropFrame } = timeline;
  const startFrame = getHourFrame({ base: timebase.base, dropFrame });
  const notes = timeline.warnings.map((warning) => ({ record: 0, kind: "review" as const, text: `Note: ${warning}` }));
  const sequence = createElement(
    "sequence",
    { id: "sequence-1" },
    createTextElements({ name: timeline.title, duration: timeline.length }),
    createRateElement(rate),
    createTimecodeElement(startFrame, rate, dropFrame),
    createMediaElement(timeline),
    [...notes, ...timeline.markers].map(createMarkerElement),
  );
  return formatXml(createElement("xmeml", { version: "5" }, sequence), "xmeml");
}

/** Creates a `rate` element: 23.976 is timebase 24 with ntsc TRUE. */
function createRateElement(rate: Rational): XmlElement {
  const { base, ntsc } = findTimebase(rate)!;
  return createElement("rate", {}, createTextElements({ timebase: base, ntsc: ntsc ? "TRUE" : "FALSE" }));
}

function createTimecodeElement(frame: number, rate: Rational, dropFrame: boolean): XmlElement {
  const string = formatTimecode(frame, { base: findTimebase(rate)!.base, dropFrame });
  const texts = createTextElements({ string, frame, displayformat: dropFrame ? "DF" : "NDF" });
  return createElement("timecode", {}, createRateElement(rate), texts);
}

function createMediaElement(timeline: Timeline): XmlElement {
  const { media } = timeline;
  const layers = listLayers(timeline).map((clips, layer) =>
    clips.map((clip, index): PlacedClip => ({ clip, layer, index })),
  );
  const createItem = createItemFactory(timeline);
  // The first item describes the file, so it must not be created without being used.
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
        { outputchannelindex: channel + 1 },
      ),
    ),
  );
  const audioFormat = createAudioCharacteristics(media.audio?.sampleRate ?? 48_000);
  return createElement(
    "media",
    {},
    createElement("video", {}, createElement("format", {}, createVideoCharacteristics(media, timeline.rate)), video),
    createElement(
      "audio",
      {},
      createTextElements({ numOutputChannels: 2 }),
      createElement("format", {}, audioFormat),
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
  output: Record<string, number> = {},
): XmlElement =>
  createElement("track", attributes, items, createTextElements({ enabled: "TRUE", locked: "FALSE", ...output }));

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
    const isEnabled = clip.enabled ? "TRUE" : "FALSE";
    const remark = toOneLine(formatRemark(clip), 1000);
    const track = { mediatype: "audio", trackindex: channel + 1 };
    return createElement(
      "clipitem",
      {
        id: formatItemId(placed, kind, channel),
        premiereChannelType: kind === "audio" && channels === 2 ? "stereo" : null,
      },
      createTextElements({ masterclipid: MASTER_CLIP_ID, name, enabled: isEnabled, duration: media.length }),
      createRateElement(rate),
      createTextElements({ start: clip.record, end: getRecordEnd(clip), in: clip.source, out: getSourceEnd(clip) }),
      describeFile(),
      kind === "audio" ? createElement("sourcetrack", {}, createTextElements(track)) : null,
      createLinks(placed, media.video !== null, channels),
      remark === "" ? null : createElement("comments", {}, createTextElements({ mastercomment1: remark })),
    );
  };
}

const formatItemId = ({ layer, index }: PlacedClip, kind: TrackKind, channel: number): string =>
  kind === "video" ? `clipitem-v${layer + 1}-${index + 1}` : `clipitem-a${layer + 1}.${channel + 1}-${index + 1}`;

/** Links the video and audio items of a clip, so that they move together. A single item needs no link. */
function createLinks(placed: PlacedClip, hasVideo: boolean, channels: number): XmlElement[] {
  const link = (mediatype: TrackKind, channel: number, trackindex: number) => {
    const linkclipref = formatItemId(placed, mediatype, channel);
    return createElement(
      "link",
      {},
      createTextElements({ linkclipref, mediatype, trackindex, clipindex: placed.index + 1 }),
    );
  };
  const allLinks = [
    ...(hasVideo ? [link("video", 0, placed.layer + 1)] : []),
    ...Array.from({ length: channels }, (_, channel) => link("audio", channel, placed.layer * channels + channel + 1)),
  ];
  return allLinks.length > 1 ? allLinks : [];
}

function createFileElement({ media }: Timeline): XmlElement {
  const { audio, nativeLength: duration } = media;
  const video = [...createTextElements({ duration }), createVideoCharacteristics(media, media.rate)];
  return createElement(
    "file",
    { id: FILE_ID },
    createTextElements({ name: toOneLine(media.name), pathurl: media.url }),
    createRateElement(media.rate),
    createTextElements({ duration }),
    createTimecodeElement(media.start.nativeFrame, media.rate, media.start.dropFrame),
    createElement(
      "media",
      {},
      media.video ? createElement("video", {}, video) : null,
      audio &&
        createElement(
          "audio",
          {},
          createAudioCharacteristics(audio.sampleRate),
          createTextElements({ channelcount: audio.channels }),
        ),
    ),
  );
}

const createVideoCharacteristics = ({ video }: TimelineMedia, rate: Rational): XmlElement =>
  createElement(
    "samplecharacteristics",
    {},
    createRateElement(rate),
    createTextElements({ width: video?.width ?? 1920, height: video?.height ?? 1080 }),
    createTextElements({ anamorphic: "FALSE", pixelaspectratio: "square", fielddominance: "none" }),
  );

const createAudioCharacteristics = (samplerate: number): XmlElement =>
  createElement("samplecharacteristics", {}, createTextElements({ depth: 16, samplerate }));

/** Creates a `marker` element. An `out` of -1 is a marker without duration. */
function createMarkerElement({ record, text, kind }: Pick<Marker, "record" | "text" | "kind">): XmlElement {
  const name = kind === "join" ? "Join" : "Check";
  return createElement("marker", {}, createTextElements({ comment: toOneLine(text), name, in: record, out: -1 }));
}
