/**
 * Creates the index file of a source whose packets browsers may play: a record for each packet, as in the index of a
 * preview. Runs in the child process of a job.
 */
import { open } from "node:fs/promises";
import { type EncodedPacket, EncodedPacketSink, type InputAudioTrack, type InputVideoTrack } from "mediabunny";
import type { ProbedMedia } from "../../domain/media";
import { PIECE_SECONDS, type PreviewTrack, type SourceFacts, type SourceVideoTrack } from "../../domain/preview";
import { getFrameCount, getFrameTime, TICKS_PER_SECOND, toSeconds } from "../../domain/time";
import { yieldToEventLoop } from "../../lib/event-loop";
import { readInto } from "../../lib/file-bytes";
import type { RecordingFile } from "../ffmpeg";
import { parseNalUnits } from "../packets/bitstream";
import { getNalType, NAL_IDR } from "../packets/h264";
import { toBytes } from "../packets/mp4-boxes";
import { openLocatedInput } from "../packets/open-input";
import { iteratePackets } from "../packets/video-track";
import { MAX_PACKETS } from "../probing/packet-listing";
import { createSampleEntry, readPreSkip } from "./sample-entry";
import { RECORD_BYTES, type Sample, writeRecord } from "./samples";

/** Containers in which the data of a packet is in one place. */
const DEMUXERS: readonly string[] = ["mov", "matroska", "mp3", "flac"];
/** Samples in a packet of the codecs below: AAC, MP3, Opus at 48 kHz. */
const PACKET_SAMPLES: readonly number[] = [1_024, 2_048, 1_152, 576, 960, 480, 1_920, 2_880, 240, 120];
/** Codecs that some browsers play in fragmented MP4. */
const CODECS: readonly string[] = ["avc", "hevc", "vp9", "av1", "aac", "mp3", "opus", "flac"];
/** A seek decodes the packets from the keyframe on. */
const MAX_KEY_DISTANCE_SECONDS = 20;
/** Minimum units per second for video, so that frames that are only decoded take next to no time. */
const MIN_VIDEO_TIMESCALE = 90_000;
const MAX_TIMESCALE = 10_000_000;
/** Containers round times. Audio packets closer than this follow one another without a gap. */
const MAX_AUDIO_ROUNDING_SECONDS = 0.003;
const SAME_FRAME_TOLERANCE_TICKS = 1_500;
/** Pieces are at least this long, as a share of `PIECE_SECONDS`. */
const MIN_PIECE_SHARE = 0.75;
const MAX_WALL_MS = 120_000;
const PACKETS_PER_CHECK = 1_000;
const CHECKED_BYTES = 64;

/** The packets of a track are not playable. The message is the reason. */
class NotPlayableError extends Error {}

export type IndexedSource = Pick<SourceFacts, "video" | "audio"> & { reasons: string[] };

/**
 * Writes the index to `outputPath`. `reasons`: why tracks are not playable. Errors: of reading and writing; the
 * signal's reason.
 */
export async function writeSourceIndex(
  options: Omit<RecordingFile, "ffmpeg"> & { outputPath: string },
): Promise<IndexedSource> {
  const { path, probed, outputPath, signal } = options;
  const facts: Pick<SourceFacts, "video" | "audio"> = { video: null, audio: null };
  const reasons: string[] = [];
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const deadline = performance.now() + MAX_WALL_MS;
  const check = async () => {
    await yieldToEventLoop();
    signal?.throwIfAborted();
    if (performance.now() > deadline) throw new NotPlayableError("indexing takes too long");
  };
  const attempt = async (work: () => Promise<void>) => {
    const count = parts.length;
    await work().catch((error: unknown) => {
      signal?.throwIfAborted();
      parts.length = count;
      reasons.push(error instanceof Error ? error.message : String(error));
    });
  };
  if (!DEMUXERS.includes(probed.info.demuxer)) reasons.push(`container ${probed.info.demuxer}`);
  else {
    const { input: opened, locate } = openLocatedInput(path);
    using input = opened;
    await using file = await open(path, "r");
    const verify = async (packet: EncodedPacket, offset: number) => {
      const expected = packet.data.subarray(0, CHECKED_BYTES);
      const found = await readInto(file, new Uint8Array(expected.length), offset);
      if (Buffer.compare(found, expected) !== 0) throw new NotPlayableError("packets are not where they should be");
    };
    const reader: TrackReader = { probed, check, verify, locate, append: (records) => appendRecords(parts, records) };
    await attempt(async () => {
      const track = (await input.getVideoTracks())[0];
      if (probed.info.video !== null && track !== undefined) facts.video = await indexVideo(track, reader);
    });
    await attempt(async () => {
      const track = (await input.getAudioTracks())[0];
      if (probed.info.audio.length > 0 && track !== undefined) facts.audio = await indexAudio(track, reader);
    });
  }
  await Bun.write(outputPath, new Blob(parts));
  return { ...facts, reasons };
}

type TrackReader = {
  probed: ProbedMedia;
  check(): Promise<void>;
  verify(packet: EncodedPacket, offset: number): Promise<void>;
  locate(data: Uint8Array): number | null;
  append(records: readonly Sample[]): Pick<PreviewTrack, "firstRecord" | "sampleCount">;
};

function appendRecords(parts: Uint8Array<ArrayBuffer>[], samples: readonly Sample[]) {
  const firstRecord = parts.reduce((sum, { length }) => sum + length, 0) / RECORD_BYTES;
  const records = new Uint8Array(samples.length * RECORD_BYTES);
  const view = new DataView(records.buffer);
  for (const [n, sample] of samples.entries()) writeRecord(view, n * RECORD_BYTES, sample);
  parts.push(records);
  return { firstRecord, sampleCount: samples.length };
}

/** Reads all packets of a track in decode order. */
async function readPackets(track: InputVideoTrack | InputAudioTrack, timescale: number, reader: TrackReader) {
  const { check, verify, locate, probed } = reader;
  const start = toSeconds(probed.info.startPts);
  const samples: (Sample & { duration: number })[] = [];
  let first: EncodedPacket | null = null;
  const codec = await track.getCodec();
  const isKeyframe = codec === "avc" ? await createIdrTest(track) : () => true;
  for await (const packet of iteratePackets(new EncodedPacketSink(track))) {
    if (samples.length >= MAX_PACKETS) throw new NotPlayableError("too many packets");
    const offset = locate(packet.data);
    if (offset === null) throw new NotPlayableError("packets are not contiguous in the file");
    if (samples.length % PACKETS_PER_CHECK === 0) {
      await check();
      await verify(packet, offset);
    }
    first ??= packet;
    const time = Math.round((packet.timestamp - start) * timescale);
    const duration = Math.round(packet.duration * timescale);
    const isKey = packet.type === "key" && isKeyframe(packet.data);
    samples.push({ offset, size: packet.data.length, time, isKey, duration });
  }
  if (first === null) throw new NotPlayableError("no packets");
  if (codec === null || !CODECS.includes(codec)) throw new NotPlayableError(`codec ${codec}`);
  const entry = await createSampleEntry(track, first);
  if (entry === null) throw new NotPlayableError(`codec ${codec} in MP4`);
  const mimeType = `${track.type}/mp4; codecs="${await track.getCodecParameterString()}"`;
  return { samples, mimeType, sampleEntry: Buffer.from(entry).toString("base64") };
}

/**
 * Returns a test of H.264 keyframes for an IDR picture. Containers also mark the intra pictures of open groups, but
 * browsers drop the frames of a fragment that starts with one.
 */
async function createIdrTest(track: InputVideoTrack | InputAudioTrack): Promise<(packet: Uint8Array) => boolean> {
  const { description } = (await track.getDecoderConfig()) ?? {};
  if (description === undefined) throw new NotPlayableError("parameter sets are in-band");
  const lengthSize = ((toBytes(description)[4] ?? 0) & 3) + 1;
  return (packet) => parseNalUnits(packet, lengthSize).some((nal) => getNalType(nal) === NAL_IDR);
}

/** Returns the time resolution of the track, or a multiple of at least `min`. */
async function chooseTimescale(track: InputVideoTrack, min: number): Promise<number> {
  const resolution = Math.max(1, Math.round(await track.getTimeResolution()));
  return resolution >= MAX_TIMESCALE ? min : resolution * Math.ceil(min / resolution);
}

async function indexVideo(track: InputVideoTrack, reader: TrackReader): Promise<SourceVideoTrack> {
  const video = reader.probed.info.video!;
  if (video.interlaced) throw new NotPlayableError("interlaced");
  const timescale = await chooseTimescale(track, MIN_VIDEO_TIMESCALE);
  const { samples, ...described } = await readPackets(track, timescale, reader);
  requireSameFrames(samples, timescale, reader.probed);
  const keys = listKeys(samples);
  const last = samples.reduce((max, { time }) => Math.max(max, time), 0);
  const distances = keys.map(({ time }, n) => (keys[n + 1]?.time ?? last) - time);
  if (keys.length === 0 || Math.max(...distances) > MAX_KEY_DISTANCE_SECONDS * timescale)
    throw new NotPlayableError("keyframes are too far apart");
  const { codedWidth: width, codedHeight: height, rotation } = video;
  const starts = listStarts(keys.map(({ time }) => time / timescale));
  const records = { ...reader.append(samples), keys: reader.append(keys) };
  return { ...described, timescale, ...records, width, height, rotation, starts };
}

/** Returns the keyframes from which all later frames can be decoded, in display order. */
function listKeys(samples: readonly Sample[]): Sample[] {
  const keys: Sample[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  for (const [n, { time, isKey }] of samples.entries()) {
    if (isKey && time > highest) keys.push({ offset: n, size: 0, time, isKey: true });
    highest = Math.max(highest, time);
  }
  return keys;
}

/** Returns keyframes that are about the duration of a piece apart, in seconds. */
function listStarts(keys: readonly number[]): number[] {
  const starts: number[] = [];
  for (const time of keys) if (time >= (starts.at(-1) ?? 0) + PIECE_SECONDS * MIN_PIECE_SHARE) starts.push(time);
  return starts.map((time) => Math.round(time * TICKS_PER_SECOND) / TICKS_PER_SECOND);
}

/** Throws `NotPlayableError` if the packets do not show the probed frames: an edit list or a damaged table. */
function requireSameFrames(samples: readonly Sample[], timescale: number, { frames }: ProbedMedia): void {
  if (frames === null) throw new NotPlayableError("no frames");
  const times = Float64Array.from(samples, ({ time }) => time).sort();
  const lead = times.length - getFrameCount(frames);
  if (lead < 0) throw new NotPlayableError("fewer packets than frames");
  for (let n = lead; n < times.length; n++) {
    const ticks = (times[n]! * TICKS_PER_SECOND) / timescale;
    if (Math.abs(ticks - getFrameTime(frames, n - lead)) > SAME_FRAME_TOLERANCE_TICKS)
      throw new NotPlayableError("packet times differ from frame times");
  }
}

async function indexAudio(track: InputAudioTrack, reader: TrackReader): Promise<PreviewTrack> {
  const timescale = await track.getSampleRate();
  if (!Number.isSafeInteger(timescale) || timescale <= 0) throw new NotPlayableError("no sample rate");
  const { samples, ...described } = await readPackets(track, timescale, reader);
  // Rounded times would leave gaps of a few samples, which are audible.
  const tolerance = MAX_AUDIO_ROUNDING_SECONDS * timescale;
  const duration = findPacketDuration(samples);
  // The reader does not subtract the delay that Matroska declares.
  const delay = reader.probed.info.demuxer === "matroska" ? await readPreSkip(track) : 0;
  let end: number | null = null;
  for (const sample of samples) {
    sample.time -= delay;
    if (end !== null && Math.abs(sample.time - end) <= tolerance) sample.time = end;
    end = sample.time + (duration ?? sample.duration);
  }
  return { ...described, timescale, ...reader.append(samples) };
}

function findPacketDuration(samples: readonly Sample[]): number | null {
  const mean = (samples.at(-1)!.time - samples[0]!.time) / Math.max(1, samples.length - 1);
  return PACKET_SAMPLES.find((count) => Math.abs(count - mean) < 0.5) ?? null;
}
