/** Reads exact packet times in process with mediabunny: MP4, QuickTime, Matroska and simple audio containers. */
import { EncodedPacketSink, type InputTrack } from "mediabunny";
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { yieldToEventLoop } from "../../lib/event-loop";
import { openInput } from "../packets/open-input";
import { PacketCollector, type PacketListing, type PacketListingOptions, type PacketTimes } from "./packet-listing";

/** The demuxers whose files mediabunny reads with the same times as ffmpeg, and no slower. */
export const TABLE_DEMUXERS: readonly string[] = ["mov", "matroska", "wav", "ogg", "aac"];

/** About 285 years. Larger times come from damaged or hostile tables and would not be exact. */
const MAX_TICKS: Ticks = 2 ** 53;

/** Packets between two checks of the deadline. */
const PACKETS_PER_CHECK = 2_000;

/**
 * Reads the packet table of the first video and audio track. Errors: any that mediabunny throws on an unreadable file;
 * `AppError` `media_limits_exceeded`; a plain `Error` after `wallSeconds`; the signal's reason if aborted.
 */
export async function readPacketTable(options: PacketListingOptions): Promise<PacketListing> {
  const deadline = Date.now() + options.wallSeconds * 1000;
  const yieldAndCheck = async () => {
    await yieldToEventLoop();
    options.signal?.throwIfAborted();
    if (Date.now() > deadline) throw new Error("Reading the packet table takes too long.");
  };
  using input = openInput(options.path);
  const video = options.hasVideo ? (await input.getVideoTracks())[0] : undefined;
  const audio = options.hasAudio ? (await input.getAudioTracks())[0] : undefined;
  if (options.hasVideo && video === undefined) throw new Error("No video track.");
  if (options.hasAudio && audio === undefined) throw new Error("No audio track.");
  return {
    video: video === undefined ? null : await readVideoTimes(video, yieldAndCheck),
    audio: audio === undefined ? null : await readAudioTimes(audio),
  };
}

async function readVideoTimes(track: InputTrack, yieldAndCheck: () => Promise<void>): Promise<PacketTimes | null> {
  const collector = new PacketCollector();
  let count = 0;
  for await (const packet of new EncodedPacketSink(track).packets(undefined, undefined, { metadataOnly: true })) {
    if (count++ % PACKETS_PER_CHECK === 0) await yieldAndCheck();
    const end = toTicks(packet.timestamp + Math.max(0, packet.duration));
    collector.add(toTicks(packet.timestamp), end, packet.byteLength);
  }
  return collector.result(await readTimeResolution(track));
}

/** For audio, only the first and the last packet matter. */
async function readAudioTimes(track: InputTrack): Promise<PacketTimes | null> {
  const sink = new EncodedPacketSink(track);
  const first = await sink.getFirstPacket({ metadataOnly: true });
  if (first === null) return null;
  const last = await sink.getPacket(Number.POSITIVE_INFINITY, { metadataOnly: true });
  const second = await sink.getNextPacket(first, { metadataOnly: true });
  // Matroska lacks the duration of the last packet. The first one's is assumed, limited by the file's duration.
  const typicalDuration = second === null ? 0 : second.timestamp - first.timestamp;
  const declaredDuration =
    ((await track.getDurationFromMetadata()) ?? Number.POSITIVE_INFINITY) - (last?.timestamp ?? 0);
  const lastDuration =
    last?.duration || Math.max(0, Math.min(typicalDuration, declaredDuration > 0 ? declaredDuration : typicalDuration));
  const end = last === null ? first.timestamp + first.duration : last.timestamp + lastDuration;
  return {
    times: new Float64Array([toTicks(first.timestamp)]),
    end: toTicks(end),
    bytes: 0,
    resolution: await readTimeResolution(track),
  };
}

/** Converts seconds to ticks. Errors: a plain `Error` for a time that is not a number or too large to be exact. */
function toTicks(seconds: number): Ticks {
  const ticks = Math.round(seconds * TICKS_PER_SECOND);
  if (!(Math.abs(ticks) <= MAX_TICKS)) throw new Error("A packet has no valid timestamp.");
  return ticks;
}

async function readTimeResolution(track: InputTrack): Promise<number> {
  return TICKS_PER_SECOND / Math.max(1, await track.getTimeResolution());
}
