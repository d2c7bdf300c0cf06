/** Readers of the export formats, with the same result type for all. Frames at the timeline's rate. */
import type { ExportFormat } from "../../../../src/domain/timeline";
import { all, at, descendants, type Node, one, readXml } from "./xml-reader";

export type ReadClip = { record: number; source: number; length: number; enabled: boolean };
export type ReadTimeline = {
  /** The main track, then the tracks above it. */
  tracks: ReadClip[][];
  /** Audio tracks in the same order; null for formats in which a clip has both video and audio. */
  audioTracks: ReadClip[][] | null;
  name: string;
  url: string;
  /** Duration and start timecode of the media in frames; null where the format has none. */
  mediaLength: number | null;
  start: number | null;
};
export type Rate = { num: number; den: number };

/** Throws when the document violates its format. */
export const READERS: Record<ExportFormat, (body: string, rate: Rate) => ReadTimeline> = {
  fcpxml: readFcpxml,
  fcp7xml: readFcp7Xml,
  edl: readEdl,
  otio: readOtio,
  mlt: readMlt,
  csv: readCsv,
  json: readJson,
};

export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

/** Parses `N/Ds` to whole frames. */
function frames(time: string | undefined, rate: Rate): number {
  const match = /^(\d+)(?:\/(\d+))?s$/.exec(time ?? "");
  check(match !== null, `not a time: ${time}`);
  const [num, den] = [BigInt(match[1]!) * BigInt(rate.num), BigInt(match[2] ?? 1) * BigInt(rate.den)];
  check(num % den === 0n, `${time} is not on the frame grid`);
  check(BigInt(match[2] ?? 1) < 2n ** 31n, `${time} has too large a denominator`);
  return Number(num / den);
}

function readFcpxml(body: string, rate: Rate): ReadTimeline {
  const root = readXml(body);
  check(root.attributes.version === "1.10", "version");
  const asset = at(root, "resources", "asset");
  const ids = all(one(root, "resources"), "format").map((format) => format.attributes.id);
  const sequence = at(root, "library", "event", "project", "sequence");
  check(ids.includes(sequence.attributes.format), "the sequence has no format");
  check(["stereo", "surround"].includes(sequence.attributes.audioLayout!), "audioLayout");
  if (!asset.attributes.hasVideo)
    check(!asset.attributes.format && !asset.attributes.videoSources, "a video format of an audio asset");
  const origin = frames(asset.attributes.start, rate);
  const read = (node: Node): ReadClip => ({
    record: frames(node.attributes.offset, rate),
    source: frames(node.attributes.start, rate) - origin,
    length: frames(node.attributes.duration, rate),
    enabled: node.attributes.enabled !== "0",
  });
  const tracks: ReadClip[][] = [[]];
  for (const node of one(sequence, "spine").children) {
    const clip = read(node);
    tracks[0]!.push(clip);
    const order = node.children.map((child) => ["note", "conform-rate", "asset-clip", "marker"].indexOf(child.name));
    check(
      order.every((place, i) => place >= Math.max(0, ...order.slice(0, i))),
      "children of a clip out of order",
    );
    for (const other of all(node, "asset-clip")) {
      const lane = Number(other.attributes.lane);
      check(lane > 0, "a connected clip without a lane");
      tracks[lane] ??= [];
      const { record, ...rest } = read(other);
      tracks[lane].push({ ...rest, record: clip.record + record - origin - clip.source });
    }
    for (const marker of all(node, "marker")) {
      const inside = frames(marker.attributes.start, rate) - origin - clip.source;
      check(inside >= 0 && inside < clip.length, "a marker outside its clip");
    }
  }
  const end = tracks[0]!.at(-1)!;
  check(frames(sequence.attributes.duration, rate) === end.record + end.length, "the sequence's duration");
  return {
    tracks,
    audioTracks: null,
    name: asset.attributes.name!,
    url: one(asset, "media-rep").attributes.src!,
    mediaLength: frames(asset.attributes.duration, rate),
    start: origin,
  };
}

const number = (node: Node, name: string) => Number(one(node, name).text);

function readFcp7Xml(body: string, rate: Rate): ReadTimeline {
  const root = readXml(body);
  const sequence = one(root, "sequence");
  const isSlowed = rate.den === 1001;
  const checkRate = (node: Node) => {
    check(number(one(node, "rate"), "timebase") === Math.round(rate.num / rate.den), "timebase");
    check(at(node, "rate", "ntsc").text === (isSlowed ? "TRUE" : "FALSE"), "ntsc");
  };
  checkRate(sequence);
  const items = descendants(sequence).filter((node) => node.name === "clipitem");
  const ids = new Set(items.map((item) => item.attributes.id));
  check(ids.size === items.length, "clip item ids are not unique");
  for (const link of items.flatMap((item) => all(item, "link")))
    check(ids.has(one(link, "linkclipref").text), "a link to nowhere");
  const files = items.map((item) => one(item, "file"));
  check(files.filter((file) => file.children.length > 0).length === 1, "the file is described once");
  const file = files.find((each) => each.children.length > 0)!;
  check(files[0] === file, "the file is described where it first occurs");
  const read = (track: Node) =>
    all(track, "clipitem").map((item): ReadClip => {
      checkRate(item);
      const clip = {
        record: number(item, "start"),
        source: number(item, "in"),
        length: number(item, "out") - number(item, "in"),
      };
      check(number(item, "end") - clip.record === clip.length, "start, end, in and out disagree");
      return { ...clip, enabled: one(item, "enabled").text === "TRUE" };
    });
  const video = at(sequence, "media", "video");
  one(video, "format");
  const videoTracks = all(video, "track").map(read);
  const audioTracks = all(at(sequence, "media", "audio"), "track").map(read);
  check(number(file, "duration") === number(items[0]!, "duration"), "the media's length");
  return {
    tracks: videoTracks.length > 0 ? videoTracks : audioTracks,
    audioTracks,
    name: one(file, "name").text,
    url: one(file, "pathurl").text,
    mediaLength: number(file, "duration"),
    start: number(one(file, "timecode"), "frame"),
  };
}

/** Converts a timecode to frames by counting minute by minute. */
export function labelFrames(label: string, rate: Rate): number {
  const [hours, minutes, seconds, frame] = label.split(/[:;]/).map(Number) as [number, number, number, number];
  const base = Math.round(rate.num / rate.den);
  let count = 0;
  for (let minute = 0; minute < hours * 60 + minutes; minute++) count += base * 60;
  if (!label.includes(";")) return count + seconds * base + frame;
  for (let minute = 1; minute <= hours * 60 + minutes; minute++) if (minute % 10 !== 0) count -= base === 60 ? 4 : 2;
  return count + seconds * base + frame;
}

function readEdl(body: string, rate: Rate): ReadTimeline {
  const clips: ReadClip[] = [];
  let expected = 1;
  let name = "";
  let url = "";
  let drop = false;
  for (const line of body.split("\r\n")) {
    if (line.startsWith("TITLE:")) expected = 1;
    if (line.startsWith("FCM:")) drop = line === "FCM: DROP FRAME";
    if (line.startsWith("* FROM CLIP NAME: ")) name = line.slice(18);
    if (line.startsWith("* SOURCE FILE: ")) url = line.slice(15);
    if (line.startsWith("* REMOVED: ")) clips.at(-1)!.enabled = false;
    const event = /^(\d{3}) {2}AX {7}(V|B|AA\/V) +C {8}(\S+) (\S+) (\S+) (\S+)$/.exec(line);
    if (!event) {
      check(line === "" || /^(TITLE: |FCM: |\* | \|)/.test(line), `not a line of an EDL: ${line}`);
      continue;
    }
    check(Number(event[1]) === expected++ && expected <= 1000, `event ${event[1]} out of order`);
    const [sourceIn, sourceOut, recordIn, recordOut] = event.slice(3).map((label) => labelFrames(label, rate)) as [
      number,
      number,
      number,
      number,
    ];
    check(event[5]!.includes(";") === drop, "the record side is not counted as FCM says");
    check(sourceOut - sourceIn === recordOut - recordIn, "source and record lengths differ");
    const hour = labelFrames(drop ? "01:00:00;00" : "01:00:00:00", rate);
    clips.push({ record: recordIn - hour, source: sourceIn, length: sourceOut - sourceIn, enabled: true });
  }
  return { tracks: [clips], audioTracks: null, name, url, mediaLength: null, start: null };
}

// biome-ignore lint/suspicious/noExplicitAny: the document is read as it comes
type Otio = any;

function readOtio(body: string, rate: Rate): ReadTimeline {
  const document: Otio = JSON.parse(body);
  check(document.OTIO_SCHEMA === "Timeline.1" && document.tracks.OTIO_SCHEMA === "Stack.1", "schemas");
  const value = (time: Otio): number => {
    check(time.OTIO_SCHEMA === "RationalTime.1" && time.rate === rate.num / rate.den, "the rate of a time");
    return time.value;
  };
  let media: Otio = null;
  const read = (track: Otio): ReadClip[] => {
    let record = 0;
    return track.children.flatMap((child: Otio): ReadClip[] => {
      const length = value(child.source_range.duration);
      const placed = record;
      record += length;
      if (child.OTIO_SCHEMA === "Gap.1") return [];
      check(child.OTIO_SCHEMA === "Clip.2", child.OTIO_SCHEMA);
      media = child.media_references[child.active_media_reference_key];
      const source = value(child.source_range.start_time) - value(media.available_range.start_time);
      return [{ record: placed, source, length, enabled: child.enabled }];
    });
  };
  const kinds = (kind: string) => document.tracks.children.filter((track: Otio) => track.kind === kind).map(read);
  const [video, audio] = [kinds("Video"), kinds("Audio")] as [ReadClip[][], ReadClip[][]];
  return {
    tracks: video.length > 0 ? video : audio,
    audioTracks: audio,
    name: media.name,
    url: media.target_url,
    mediaLength: value(media.available_range.duration),
    start: value(media.available_range.start_time),
  };
}

function readMlt(body: string, rate: Rate): ReadTimeline {
  const root = readXml(body);
  check(!("root" in root.attributes), "root is left out");
  const profile = one(root, "profile").attributes;
  check(Number(profile.frame_rate_num) === rate.num && Number(profile.frame_rate_den) === rate.den, "the rate");
  const property = (node: Node, name: string) =>
    all(node, "property").find((each) => each.attributes.name === name)?.text;
  const seen = new Set<string>();
  for (const node of descendants(root)) {
    if (node.attributes.producer)
      check(seen.has(node.attributes.producer), `${node.attributes.producer} before it is defined`);
    if (node.attributes.id) seen.add(node.attributes.id);
  }
  const producers = new Map(all(root, "producer").map((node) => [node.attributes.id, node]));
  const tractor = one(root, "tractor");
  const playlists = all(tractor, "track")
    .slice(1)
    .map((track) => {
      const found = all(root, "playlist").find((each) => each.attributes.id === track.attributes.producer);
      check(found !== undefined, "a track without a playlist");
      return found;
    });
  const tracks = playlists.map((playlist) => {
    let record = 0;
    const clips: ReadClip[] = [];
    for (const node of playlist.children.filter((child) => child.name !== "property")) {
      if (node.name === "blank") {
        record += Number(node.attributes.length);
        continue;
      }
      const source = Number(node.attributes.in);
      const length = Number(node.attributes.out) - source + 1;
      const enabled = property(producers.get(node.attributes.producer)!, "set.test_image") !== "1";
      clips.push({ record, source, length, enabled });
      record += length;
    }
    return clips;
  });
  const end = tracks[0]!.at(-1)!;
  check(Number(tractor.attributes.out) === end.record + end.length - 1, "the timeline's out");
  const source = producers.get("source")!;
  const path = property(source, "resource")!;
  return {
    tracks,
    audioTracks: null,
    name: path.slice(path.lastIndexOf("/") + 1),
    url: path,
    mediaLength: Number(property(source, "length")),
    start: null,
  };
}

/** Parses CSV (RFC 4180). */
export function readTable(body: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  let at = 0;
  for (let match = field.exec(body); match; match = field.exec(body)) {
    at = field.lastIndex;
    rows.at(-1)!.push(match[1]?.replaceAll('""', '"') ?? match[2]!);
    if (match[3] === "\r\n") rows.push([]);
  }
  check(at === body.length && rows.pop()!.length === 0, "not a table");
  const [head, ...rest] = rows;
  return rest.map((row) => {
    check(row.length === head!.length, "a row of another length");
    return Object.fromEntries(row.map((value, i) => [head![i]!, value]));
  });
}

function readCsv(body: string, rate: Rate): ReadTimeline {
  const tracks: ReadClip[][] = [];
  let start = 0;
  let name = "";
  for (const row of readTable(body)) {
    const clip = {
      record: Number(row.record_start_frame),
      source: Number(row.source_start_frame),
      length: Number(row.frames),
      enabled: row.state === "kept",
    };
    const track = Number(row.track) - 1;
    tracks[track] ??= [];
    tracks[track].push(clip);
    start = labelFrames(row.source_in!, rate) - clip.source;
    check(labelFrames(row.record_in!, rate) === clip.record, "record_in");
    check(labelFrames(row.record_out!, rate) === clip.record + clip.length, "record_out");
    check(Math.abs(Number(row.source_start_seconds) - (clip.source * rate.den) / rate.num) < 1e-5, "seconds");
    name = row.file!;
  }
  return { tracks, audioTracks: null, name, url: "", mediaLength: null, start };
}

function readJson(body: string): ReadTimeline {
  const { timeline } = JSON.parse(body) as { timeline: Otio };
  const read = ({ record, source, length, enabled }: ReadClip): ReadClip => ({ record, source, length, enabled });
  return {
    tracks: [timeline.clips, ...timeline.alternates].map((clips: ReadClip[]) => clips.map(read)),
    audioTracks: null,
    name: timeline.media.name,
    url: timeline.media.url,
    mediaLength: timeline.media.length,
    start: timeline.media.start_frame,
  };
}
