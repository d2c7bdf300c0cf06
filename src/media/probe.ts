/** Probes a file: its streams, the exact presentation time of every frame, and the start of its clock. */
import { stat } from "node:fs/promises";
import { AppError } from "../domain/errors";
import type { AudioStream, MediaInfo, ProbedMedia, SniffedMedia, VideoStream } from "../domain/media";
import {
  type FrameTimes,
  formatDuration,
  fromSeconds,
  getFrameCount,
  getFrameTime,
  TICKS_PER_SECOND,
  type Ticks,
  toFrameTimes,
} from "../domain/time";
import { MAX_CHANNELS } from "./audio/mixdown";
import { isSupportedCodec } from "./decoders";
import type { RecordingFile } from "./ffmpeg";
import { checkMp4 } from "./packets/mp4-check";
import { readMp4Structure } from "./packets/mp4-structure";
import type { DescribedAudio, DescribedVideo, MediaDescription } from "./probing/description";
import { decodeFirstFrame, describe } from "./probing/first-frames";
import { listPackets, type PacketListing, type PacketTimes } from "./probing/packet-listing";
import { readPacketTable, TABLE_DEMUXERS } from "./probing/packet-table";

export type ProbeLimits = { maxDurationSeconds: number; maxSidePixels: number; maxStreams: number };

export type ProbeOptions = Omit<RecordingFile, "probed"> & { sniffed: SniffedMedia; limits: ProbeLimits };

const MAX_DESCRIBE_WALL_SECONDS = 60;
const MAX_TABLE_WALL_SECONDS = 60;
const MAX_LISTING_WALL_SECONDS = 900;
/** A small damaged file must not take as long as a recording of a day. */
const MIN_WALL_SECONDS = 30;
const BYTES_PER_WALL_SECOND = 1_000_000;
/** Packet tables and decoders round times to their own units. Times closer than this belong to the same frame. */
const SAME_FRAME_TOLERANCE_TICKS: Ticks = 1_500;
/** The common containers store times in milliseconds; this adds the rounding. */
const RATE_TOLERANCE_TICKS: Ticks = 1_100;

/**
 * Probes a file. Errors: `AppError` `corrupt_media`, `no_media_streams`, `media_limits_exceeded`, `unsupported_media`;
 * the signal's reason when aborted.
 */
export async function probeMedia(options: ProbeOptions): Promise<ProbedMedia> {
  const { path, sniffed, limits, signal } = options;
  const { size } = await stat(path);
  if (size === 0) throw new AppError("corrupt_media", "The file is empty.");
  if (sniffed.demuxer === "mov") await checkMp4(path, signal);
  const { described, streams, listing, firstVideo, firstAudio } = await readStreams(options, size);
  const found = selectDecodable(streams, listing, { video: firstVideo?.time ?? null, audio: firstAudio?.time ?? null });
  const startPts = Math.min(
    found.video?.first ?? Number.POSITIVE_INFINITY,
    found.audio?.first ?? Number.POSITIVE_INFINITY,
  );
  const frames = found.video === null ? null : createFrameTimes(found.video, startPts, sniffed.demuxer);
  const videoEnd = frames === null ? 0 : getFrameTime(frames, getFrameCount(frames));
  const audioEnd = found.audio === null ? 0 : found.audio.packets.end - startPts;
  const duration = Math.max(videoEnd, audioEnd);
  if (!(duration > 0)) throw new AppError("no_media_streams", "The file has no audio and no video.");
  if (!(duration <= limits.maxDurationSeconds * TICKS_PER_SECOND)) throw createTooLongError(limits);

  const info: MediaInfo = {
    type: frames === null ? "audio" : "video",
    demuxer: sniffed.demuxer,
    duration,
    startPts,
    video:
      frames === null
        ? null
        : toVideoStream(streams.video!, frames, found.video!.packets, videoEnd, firstVideo!.interlaced),
    audio: found.audio === null ? [] : streams.audio.map(toAudioStream),
    timecode: described.timecode,
  };
  return { info, frames };
}

/** Reads the description, the packet times and the first frames. */
async function readStreams(options: ProbeOptions, size: number) {
  const { path, sniffed, ffmpeg, limits, signal } = options;
  const source = {
    ffmpeg,
    path,
    demuxer: sniffed.demuxer,
    wallSeconds: MAX_DESCRIBE_WALL_SECONDS,
    maxPixels: limits.maxSidePixels ** 2,
    signal,
  };
  // An audio file rarely has video.
  const isJoint = sniffed.type === "video";
  const { description: described, first } = await describe({ ...source, hasVideo: isJoint });
  const streams = chooseStreams(described, limits);
  const listing = await readPacketTimes(options, streams, size);
  const retries = isJoint && first.video === null && first.audio === null;
  const findFirst = (kind: "video" | "audio", isMissing: boolean) =>
    isMissing ? decodeFirstFrame(source, kind) : first[kind];
  return {
    described,
    streams,
    listing,
    firstVideo: streams.video === null ? null : await findFirst("video", retries || !isJoint),
    firstAudio: streams.audio.length === 0 ? null : await findFirst("audio", retries),
  };
}

type ChosenStreams = { video: DescribedVideo | null; audio: DescribedAudio[] };

function chooseStreams(described: MediaDescription, limits: ProbeLimits): ChosenStreams {
  if (described.streamCount > limits.maxStreams)
    throw new AppError("media_limits_exceeded", `The file has more than ${limits.maxStreams} streams.`);
  if ((described.durationSeconds ?? 0) > limits.maxDurationSeconds) throw createTooLongError(limits);
  if (described.streamCount === 0) throw new AppError("corrupt_media", "The file contains no streams.");
  const video = described.video.find((stream) => !stream.attachedPicture) ?? null;
  if (video === null && described.audio.length === 0)
    throw new AppError("no_media_streams", "The file has no audio and no video.");
  const codecs = [...(video === null ? [] : [video]), ...described.audio].map((stream) => stream.codec);
  if (!codecs.some(isSupportedCodec)) throw createUnsupportedCodecError(...new Set(codecs));
  if (video !== null && Math.max(video.codedWidth, video.codedHeight) > limits.maxSidePixels)
    throw new AppError("media_limits_exceeded", `Video is larger than ${limits.maxSidePixels} pixels per side.`);
  const audio = described.audio.filter((stream) => stream.sampleRate > 0);
  if ((audio[0]?.channels ?? 0) > MAX_CHANNELS)
    throw new AppError("media_limits_exceeded", `The audio track has more than ${MAX_CHANNELS} channels.`);
  return { video, audio };
}

const createTooLongError = ({ maxDurationSeconds }: ProbeLimits) =>
  new AppError("media_limits_exceeded", `The file is longer than ${formatDuration(maxDurationSeconds)}.`);

function createUnsupportedCodecError(...codecs: string[]): AppError<"unsupported_media"> {
  const subject = codecs.length === 1 ? `Codec ${codecs[0]} is` : `Codecs ${codecs.join(", ")} are`;
  return new AppError("unsupported_media", `${subject} not supported: convert the recording to H.264 and AAC.`);
}

const limitListing = (maxSeconds: number, sizeBytes: number): number =>
  Math.min(maxSeconds, MIN_WALL_SECONDS + sizeBytes / BYTES_PER_WALL_SECOND);

/** Reads packet times with mediabunny if it agrees with ffmpeg, otherwise with ffmpeg. */
async function readPacketTimes(
  options: ProbeOptions,
  streams: ChosenStreams,
  sizeBytes: number,
): Promise<PacketListing> {
  const { path, sniffed, ffmpeg, signal } = options;
  const tracks = { path, hasVideo: streams.video !== null, hasAudio: streams.audio.length > 0, signal };
  if (TABLE_DEMUXERS.includes(sniffed.demuxer)) {
    const wallSeconds = limitListing(MAX_TABLE_WALL_SECONDS, sizeBytes);
    const table = await readPacketTable({ ...tracks, wallSeconds }).catch((error: unknown) => {
      if (error instanceof AppError || signal?.aborted) throw error;
      return null;
    });
    if (table !== null && (sniffed.demuxer !== "mov" || (await showsEveryFrame(path, table)))) return table;
  }
  const wallSeconds = limitListing(MAX_LISTING_WALL_SECONDS, sizeBytes);
  return await listPackets({ ...tracks, ffmpeg, demuxer: sniffed.demuxer, wallSeconds });
}

/** Returns whether the edit list shows every frame. Errors: `AppError` `corrupt_media` if the file is truncated. */
async function showsEveryFrame(path: string, table: PacketListing): Promise<boolean> {
  const structure = await readMp4Structure(path);
  if (structure === null) return true;
  if (!structure.complete) throw new AppError("corrupt_media", "The file is incomplete.");
  const edits = structure.tracks.filter((track) => track.kind !== "other");
  if (edits.some((track) => track.hasComplexEdits)) return false;
  const video = edits.find((track) => track.kind === "video");
  if (video === undefined || table.video === null) return true;
  const start = fromSeconds(video.start) - SAME_FRAME_TOLERANCE_TICKS;
  const end = Number.isFinite(video.end)
    ? fromSeconds(video.end) - SAME_FRAME_TOLERANCE_TICKS
    : Number.POSITIVE_INFINITY;
  return table.video.times.every((time) => time >= start && time < end);
}

type DecodableStream = { packets: PacketTimes; first: Ticks };

function selectDecodable(
  streams: ChosenStreams,
  listing: PacketListing,
  first: { video: Ticks | null; audio: Ticks | null },
) {
  const toDecodable = (packets: PacketTimes | null, start: Ticks | null): DecodableStream | null =>
    packets === null || start === null ? null : { packets, first: start };
  const video = toDecodable(listing.video, first.video);
  const audio = toDecodable(listing.audio, first.audio);
  if (streams.video !== null && video === null && listing.video !== null) {
    if (!isSupportedCodec(streams.video.codec)) throw createUnsupportedCodecError(streams.video.codec);
    throw new AppError("corrupt_media", "Video cannot be decoded.");
  }
  if (video === null && audio === null) {
    if (listing.audio === null) throw new AppError("no_media_streams", "The file has no audio and no video.");
    throw new AppError("corrupt_media", "Audio cannot be decoded.");
  }
  return { video, audio };
}

/** Returns the frame times on the source's clock in display order, from the first frame that can be decoded. */
function createFrameTimes(video: DecodableStream, startPts: Ticks, demuxer: string): FrameTimes {
  const { packets, first } = video;
  const tolerance = Math.max(RATE_TOLERANCE_TICKS, packets.resolution * 1.01 + 2);
  const sortedTimes = packets.times.slice().sort();
  const same = Math.max(SAME_FRAME_TOLERANCE_TICKS, packets.resolution * 1.5);
  // AVI stores only decoding times. Its decoder returns as many frames, but later.
  const at = demuxer === "avi" ? -1 : sortedTimes.findIndex((time) => Math.abs(time - first) <= same);
  const shift = at < 0 ? first - sortedTimes[0]! : 0;
  const times = sortedTimes.subarray(Math.max(0, at)).map((time) => time + shift - startPts);
  for (let n = 1; n < times.length; n++) if (times[n]! <= times[n - 1]!) times[n] = times[n - 1]! + 1;
  return toFrameTimes(times, packets.end + shift - startPts, tolerance);
}

function toVideoStream(
  stream: DescribedVideo,
  frames: FrameTimes,
  packets: PacketTimes,
  end: Ticks,
  interlaced: boolean,
): VideoStream {
  const { pixelAspect, rotation, codedWidth, codedHeight } = stream;
  const unrotatedSize = {
    width: Math.max(1, Math.round((codedWidth * pixelAspect.num) / pixelAspect.den)),
    height: codedHeight,
  };
  const isRotated = rotation === 90 || rotation === 270;
  return {
    codec: stream.codec,
    width: isRotated ? unrotatedSize.height : unrotatedSize.width,
    height: isRotated ? unrotatedSize.width : unrotatedSize.height,
    codedWidth,
    codedHeight,
    rotation,
    pixelAspect,
    frameRate: frames.rate,
    variable: frames.kind === "listed",
    bitrate: packets.bytes > 0 ? Math.round((packets.bytes * 8 * TICKS_PER_SECOND) / Math.max(1, end)) : stream.bitrate,
    pixelFormat: stream.pixelFormat,
    bitDepth: parseBitDepth(stream.pixelFormat),
    color: stream.color,
    interlaced: interlaced || stream.interlaced,
  };
}

function parseBitDepth(pixelFormat: string | null): number {
  const match = /(?:p|gray|gbrp|gbrap|^p0)(9|10|12|14|16)(?:le|be)?$/.exec(pixelFormat ?? "");
  if (match !== null) return Number(match[1]);
  return /^(rgb48|bgr48|rgba64|bgra64)/.test(pixelFormat ?? "") ? 16 : 8;
}

function toAudioStream(stream: DescribedAudio, index: number): AudioStream {
  const { codec, sampleRate, channels, discrete, bitrate, language, title } = stream;
  return { index, codec, sampleRate, channels, ...(discrete && { discrete }), bitrate, language, title };
}
