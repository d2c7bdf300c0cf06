/** FCPXML 1.10, for Final Cut Pro and Resolve. Times are fractions of a second, in multiples of the frame duration. */
import type { Rational } from "../time";
import { formatRemark } from "./clips";
import { findTimebase, isSameRate } from "./frame-rate";
import { type Clip, getRecordEnd, type Marker, type Timeline, type TimelineMedia } from "./model";
import { toOneLine } from "./one-line";
import { createElement, createTextElements, formatXml, type XmlElement } from "./xml";

/** Format of the sequence. The file has its own format if its rate differs. */
const SEQUENCE_FORMAT_ID = "r1";
const ASSET_ID = "r2";
const FILE_FORMAT_ID = "r3";
/** Format of a sequence without video. */
const DEFAULT_VIDEO = { width: 1920, height: 1080, colorSpace: null };

export function formatFcpxml(timeline: Timeline): string {
  const { media, rate } = timeline;
  const video = media.video ?? DEFAULT_VIDEO;
  const formats = [createFormatElement(SEQUENCE_FORMAT_ID, video, rate)];
  if (hasOwnFormat(timeline)) formats.push(createFormatElement(FILE_FORMAT_ID, video, media.rate));
  const note = timeline.warnings.map((warning) => toOneLine(warning)).join("\n");
  const root = createElement(
    "fcpxml",
    { version: "1.10" },
    createElement("resources", {}, formats, createAssetElement(timeline)),
    createElement(
      "library",
      {},
      createElement(
        "event",
        { name: "Offcut" },
        createElement(
          "project",
          { name: timeline.title },
          createElement(
            "sequence",
            {
              format: SEQUENCE_FORMAT_ID,
              duration: formatSeconds(timeline.length, rate),
              tcStart: "0s",
              tcFormat: timeline.dropFrame ? "DF" : "NDF",
              audioLayout: (media.audio?.channels ?? 0) > 2 ? "surround" : "stereo",
              audioRate: toSequenceAudioRate(media.audio?.sampleRate ?? 48_000),
            },
            createNote(note),
            createElement("spine", {}, createSpineClips(timeline)),
          ),
        ),
      ),
    ),
  );
  return formatXml(root, "fcpxml");
}

const createNote = (note: string): XmlElement[] => (note === "" ? [] : createTextElements({ note }));

/** Formats frames of a rate as `N/Ds`. FCPXML allows a 64-bit numerator and a 32-bit denominator. */
function formatSeconds(frames: number, rate: Rational): string {
  return frames === 0 ? "0s" : `${BigInt(frames) * BigInt(rate.den)}/${rate.num}s`;
}

/** Formats the sum of two durations in frames of different rates, in lowest terms. */
function formatSecondsSum(a: number, aRate: Rational, b: number, bRate: Rational): string {
  if (isSameRate(aRate, bRate)) return formatSeconds(a + b, bRate);
  const num = BigInt(a) * BigInt(aRate.den) * BigInt(bRate.num) + BigInt(b) * BigInt(bRate.den) * BigInt(aRate.num);
  const den = BigInt(aRate.num) * BigInt(bRate.num);
  const divisor = getGreatestCommonDivisor(num, den);
  return num === 0n ? "0s" : `${num / divisor}/${den / divisor}s`;
}

function getGreatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y > 0n) [x, y] = [y, x % y];
  return x;
}

const hasOwnFormat = ({ media, rate }: Timeline) => media.video !== null && !isSameRate(media.rate, rate);

function createFormatElement(id: string, video: NonNullable<TimelineMedia["video"]>, rate: Rational): XmlElement {
  const { width, height, colorSpace } = video;
  return createElement("format", { id, frameDuration: formatSeconds(1, rate), width, height, colorSpace });
}

function createAssetElement(timeline: Timeline): XmlElement {
  const { media } = timeline;
  return createElement(
    "asset",
    {
      id: ASSET_ID,
      name: toOneLine(media.name),
      start: formatSeconds(media.start.nativeFrame, media.rate),
      duration: formatSeconds(media.nativeLength, media.rate),
      hasVideo: media.video ? "1" : null,
      format: media.video ? getFileFormatId(timeline) : null,
      videoSources: media.video ? "1" : null,
      hasAudio: media.audio ? "1" : null,
      audioSources: media.audio ? "1" : null,
      audioChannels: media.audio?.channels ?? null,
      audioRate: media.audio?.sampleRate ?? null,
    },
    createElement("media-rep", { kind: "original-media", src: media.url }),
  );
}

const getFileFormatId = (timeline: Timeline) => (hasOwnFormat(timeline) ? FILE_FORMAT_ID : SEQUENCE_FORMAT_ID);

const SEQUENCE_AUDIO_RATES = [32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000];

const toSequenceAudioRate = (hertz: number): string =>
  SEQUENCE_AUDIO_RATES.includes(hertz) ? `${hertz / 1000}k` : "48k";

/** Creates the main clips, each with the takes and markers that start in it. */
function createSpineClips(timeline: Timeline): XmlElement[] {
  const takes = timeline.alternates.flatMap((track, i) => track.map((clip) => ({ clip, lane: i + 1 })));
  const sortedTakes = takes.sort((a, b) => a.clip.record - b.clip.record);
  const markers = [...timeline.markers].sort((a, b) => a.record - b.record);
  let take = 0;
  let marker = 0;
  return timeline.clips.map((clip) => {
    const inside: (XmlElement | null)[] = [];
    for (; take < sortedTakes.length && sortedTakes[take]!.clip.record < getRecordEnd(clip); take++) {
      const { clip: other, lane } = sortedTakes[take]!;
      inside.push(
        createClipElement(timeline, other, { lane, offset: formatSourceTime(timeline, clip, other.record) }, []),
      );
    }
    for (; marker < markers.length && markers[marker]!.record < getRecordEnd(clip); marker++)
      inside.push(createMarkerElement(timeline, clip, markers[marker]!));
    return createClipElement(timeline, clip, { lane: null, offset: formatSeconds(clip.record, timeline.rate) }, inside);
  });
}

/** Formats the time on the clock of a clip's source at the timeline position `record`. */
const formatSourceTime = ({ media, rate }: Timeline, clip: Clip, record: number): string =>
  formatSecondsSum(media.start.nativeFrame, media.rate, clip.source + record - clip.record, rate);

function createClipElement(
  timeline: Timeline,
  clip: Clip,
  place: { lane: number | null; offset: string },
  inside: readonly (XmlElement | null)[],
): XmlElement {
  const { media, rate } = timeline;
  const note = toOneLine(formatRemark(clip), 1000);
  return createElement(
    "asset-clip",
    {
      ref: ASSET_ID,
      name: toOneLine(media.name),
      ...place,
      start: formatSourceTime(timeline, clip, clip.record),
      duration: formatSeconds(clip.length, rate),
      enabled: clip.enabled ? null : "0",
      format: media.video ? getFileFormatId(timeline) : null,
      tcFormat: media.start.dropFrame ? "DF" : "NDF",
      audioRole: media.audio ? "dialogue" : null,
    },
    createNote(note),
    hasOwnFormat(timeline) ? createConformElement(media.rate) : null,
    inside,
  );
}

const CONFORM_RATES: Record<string, string> = {
  "24 ntsc": "23.98",
  "24": "24",
  "25": "25",
  "30 ntsc": "29.97",
  "30": "30",
  "48 ntsc": "47.95",
  "48": "48",
  "50": "50",
  "60 ntsc": "59.94",
  "60": "60",
};

/** Keeps the clip's speed on a sequence with another rate. */
function createConformElement(rate: Rational): XmlElement {
  const timebase = findTimebase(rate);
  const name = timebase && CONFORM_RATES[`${timebase.base}${timebase.ntsc ? " ntsc" : ""}`];
  return createElement("conform-rate", { scaleEnabled: "0", srcFrameRate: name ?? null });
}

/** Remarks for an editor become to-do markers. */
function createMarkerElement(timeline: Timeline, clip: Clip, marker: Marker): XmlElement {
  return createElement("marker", {
    start: formatSourceTime(timeline, clip, marker.record),
    duration: formatSeconds(1, timeline.rate),
    value: toOneLine(marker.text),
    completed: marker.kind === "review" ? "0" : null,
  });
}
