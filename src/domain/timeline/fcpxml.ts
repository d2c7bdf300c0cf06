/** FCPXML 1.10, for Final Cut Pro and Resolve. Times are fractions of a second, whole multiples of the frame duration. */
import type { Rational } from "../time";
import { remarkOf } from "./clips";
import { countingOf, sameRate } from "./frame-rate";
import { type Clip, type Marker, recordEnd, type Timeline, type TimelineMedia } from "./model";
import { oneLine } from "./printable";
import { element, textElement, writeXml, type XmlElement } from "./xml";

/** The sequence's format; the file has its own when its rate differs. */
const SEQUENCE_FORMAT = "r1";
const ASSET = "r2";
const FILE_FORMAT = "r3";
/** What a sequence of sound alone shows. */
const EMPTY_PICTURE = { width: 1920, height: 1080, colorSpace: null };

/** The document. */
export function writeFcpxml(timeline: Timeline): string {
  const { media, rate } = timeline;
  const picture = media.video ?? EMPTY_PICTURE;
  const formats = [formatElement(SEQUENCE_FORMAT, picture, rate)];
  if (hasOwnFormat(timeline)) formats.push(formatElement(FILE_FORMAT, picture, media.rate));
  const note = timeline.warnings.map((warning) => oneLine(warning)).join("\n");
  const root = element(
    "fcpxml",
    { version: "1.10" },
    element("resources", {}, formats, assetElement(timeline)),
    element(
      "library",
      {},
      element(
        "event",
        { name: "Offcut" },
        element(
          "project",
          { name: timeline.title },
          element(
            "sequence",
            {
              format: SEQUENCE_FORMAT,
              duration: seconds(timeline.length, rate),
              tcStart: "0s",
              tcFormat: timeline.dropFrame ? "DF" : "NDF",
              audioLayout: (media.audio?.channels ?? 0) > 2 ? "surround" : "stereo",
              audioRate: sequenceAudioRate(media.audio?.sampleRate ?? 48_000),
            },
            note === "" ? null : textElement("note", note),
            element("spine", {}, spineClips(timeline)),
          ),
        ),
      ),
    ),
  );
  return writeXml(root, "fcpxml");
}

/** `frames` of a rate as `N/Ds`; 64 bits over 32 bits are allowed. */
function seconds(frames: number, rate: Rational): string {
  return frames === 0 ? "0s" : `${BigInt(frames) * BigInt(rate.den)}/${rate.num}s`;
}

/** The sum of two lengths in frames of different rates, in lowest terms. */
function secondsOfBoth(a: number, aRate: Rational, b: number, bRate: Rational): string {
  if (sameRate(aRate, bRate)) return seconds(a + b, bRate);
  const num = BigInt(a) * BigInt(aRate.den) * BigInt(bRate.num) + BigInt(b) * BigInt(bRate.den) * BigInt(aRate.num);
  const den = BigInt(aRate.num) * BigInt(bRate.num);
  const divisor = greatestCommonDivisor(num, den);
  return num === 0n ? "0s" : `${num / divisor}/${den / divisor}s`;
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y > 0n) [x, y] = [y, x % y];
  return x;
}

const hasOwnFormat = ({ media, rate }: Timeline) => media.video !== null && !sameRate(media.rate, rate);

function formatElement(id: string, picture: NonNullable<TimelineMedia["video"]>, rate: Rational): XmlElement {
  const { width, height, colorSpace } = picture;
  return element("format", { id, frameDuration: seconds(1, rate), width, height, colorSpace });
}

function assetElement(timeline: Timeline): XmlElement {
  const { media } = timeline;
  return element(
    "asset",
    {
      id: ASSET,
      name: oneLine(media.name),
      start: seconds(media.start.ownFrame, media.rate),
      duration: seconds(media.ownLength, media.rate),
      hasVideo: media.video ? "1" : null,
      format: media.video ? fileFormat(timeline) : null,
      videoSources: media.video ? "1" : null,
      hasAudio: media.audio ? "1" : null,
      audioSources: media.audio ? "1" : null,
      audioChannels: media.audio?.channels ?? null,
      audioRate: media.audio?.sampleRate ?? null,
    },
    element("media-rep", { kind: "original-media", src: media.url }),
  );
}

const fileFormat = (timeline: Timeline) => (hasOwnFormat(timeline) ? FILE_FORMAT : SEQUENCE_FORMAT);

const AUDIO_RATES: [number, string][] = [
  [32_000, "32k"],
  [44_100, "44.1k"],
  [48_000, "48k"],
  [88_200, "88.2k"],
  [96_000, "96k"],
  [176_400, "176.4k"],
  [192_000, "192k"],
];

const sequenceAudioRate = (hertz: number): string => AUDIO_RATES.find(([rate]) => rate === hertz)?.[1] ?? "48k";

/** The main clips, each with the takes and markers that begin in it. */
function spineClips(timeline: Timeline): XmlElement[] {
  const takes = timeline.alternates.flatMap((track, i) => track.map((clip) => ({ clip, lane: i + 1 })));
  const waiting = takes.sort((a, b) => a.clip.record - b.clip.record);
  const markers = [...timeline.markers].sort((a, b) => a.record - b.record);
  let take = 0;
  let marker = 0;
  return timeline.clips.map((clip) => {
    const inside: (XmlElement | null)[] = [];
    for (; take < waiting.length && waiting[take]!.clip.record < recordEnd(clip); take++) {
      const { clip: other, lane } = waiting[take]!;
      inside.push(clipElement(timeline, other, { lane, offset: sourceTime(timeline, clip, other.record) }, []));
    }
    for (; marker < markers.length && markers[marker]!.record < recordEnd(clip); marker++)
      inside.push(markerElement(timeline, clip, markers[marker]!));
    return clipElement(timeline, clip, { lane: null, offset: seconds(clip.record, timeline.rate) }, inside);
  });
}

/** The time inside a clip, on the clock of its source, at which the timeline is at `record`. */
const sourceTime = ({ media, rate }: Timeline, clip: Clip, record: number): string =>
  secondsOfBoth(media.start.ownFrame, media.rate, clip.source + record - clip.record, rate);

function clipElement(
  timeline: Timeline,
  clip: Clip,
  place: { lane: number | null; offset: string },
  inside: readonly (XmlElement | null)[],
): XmlElement {
  const { media, rate } = timeline;
  const note = oneLine(remarkOf(clip), 1000);
  return element(
    "asset-clip",
    {
      ref: ASSET,
      name: oneLine(media.name),
      ...place,
      start: sourceTime(timeline, clip, clip.record),
      duration: seconds(clip.length, rate),
      enabled: clip.enabled ? null : "0",
      format: media.video ? fileFormat(timeline) : null,
      tcFormat: media.start.dropFrame ? "DF" : "NDF",
      audioRole: media.audio ? "dialogue" : null,
    },
    note === "" ? null : textElement("note", note),
    hasOwnFormat(timeline) ? conformElement(media.rate) : null,
    inside,
  );
}

const CONFORM_RATES: Record<string, string> = {
  "24 slowed": "23.98",
  "24": "24",
  "25": "25",
  "30 slowed": "29.97",
  "30": "30",
  "48 slowed": "47.95",
  "48": "48",
  "50": "50",
  "60 slowed": "59.94",
  "60": "60",
};

/** The clip keeps its speed on a sequence of another rate. */
function conformElement(rate: Rational): XmlElement {
  const counting = countingOf(rate);
  const name = counting && CONFORM_RATES[`${counting.base}${counting.slowed ? " slowed" : ""}`];
  return element("conform-rate", { scaleEnabled: "0", srcFrameRate: name ?? null });
}

/** What an editor should look at is a to-do marker. */
function markerElement(timeline: Timeline, clip: Clip, marker: Marker): XmlElement {
  return element("marker", {
    start: sourceTime(timeline, clip, marker.record),
    duration: seconds(1, timeline.rate),
    value: oneLine(marker.text),
    completed: marker.kind === "review" ? "0" : null,
  });
}
