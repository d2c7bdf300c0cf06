/**
 * Encodes AAC with the render cache. Entries are packets of the track, about a minute each. Their keys cover every
 * sample before their end, so that packets are reused up to the first changed sample, however the samples were made.
 */
import { EncodedPacketSink, FilePathSource, Input, MP4 } from "mediabunny";
import { createFileKey, sha256 } from "../../lib/hash";
import { readMp4Structure } from "../packets/mp4-structure";
import { iteratePackets } from "../packets/video-track";
import type { RenderCache } from "../render-cache/cache-file";
import { formatSplice, parseSplice, type SplicePacket } from "../render-cache/splice-entries";
import { PACKET_SAMPLES } from "./aac-chunks";
import { AacJoinError, type AacTrackOptions, type EarlierPackets } from "./aac-track";
import { type AudioSink, buildEncoderArguments } from "./sink";
import { BLOCK_SAMPLES } from "./splicer";

/** Whole blocks, like all numbers of packets here. */
const ENTRY_PACKETS = 2_816;
/** Packets that an entry shares with the next one. Among them is the join with a new encoder. */
const SHARED_PACKETS = 32;
/** The last blocks of an entry, in which the rate control of a new encoder settles. */
const LOOKBACK_BLOCKS = 2;
/** Changes when the same samples are encoded or joined differently. */
const REVISION = 1;

const getFirstPacket = (entry: number): number => entry * ENTRY_PACKETS;
const getEndPacket = (entry: number): number => getFirstPacket(entry + 1) + SHARED_PACKETS;

/** An entry is valid only after the packets of the one before it. */
type FoundEntries = { keys: string[]; contentHash: string | null; packets: SplicePacket[] };

/**
 * Returns a sink that takes packets from the cache, encodes the rest with the sink that `createSink` returns, and adds
 * the new packets to the cache. `write` takes the blocks of the splicer. Errors: those of the other sink;
 * `AacJoinError` if its packets cannot be joined to those of the cache.
 */
export function createCachedSink(
  options: AacTrackOptions,
  cache: RenderCache,
  createSink: (options: AacTrackOptions) => AudioSink,
): AudioSink {
  const hasher = new Bun.CryptoHasher("sha256");
  /** Hashes of all samples before the end of each entry. */
  const digests: string[] = [];
  const found: FoundEntries = { keys: [], contentHash: null, packets: [] };
  const createKey = (entry: number): string =>
    createFileKey(["aac", REVISION, entry, digests[entry], found.contentHash, describeEncoder(options)]);
  /** The blocks since the start of the new encoder, as long as it has not started. */
  let blocks: Uint8Array[] = [];
  let position = 0;
  let sink: AudioSink | null = null;

  const findEntry = async (entry: number): Promise<boolean> => {
    const key = createKey(entry);
    const content = await cache.find(key);
    const parsed = content === null ? null : parseSplice(content, getEndPacket(entry) - getFirstPacket(entry));
    if (content === null || parsed === null) return false;
    found.keys.push(key);
    found.contentHash = sha256(content);
    found.packets = parsed.packets;
    return true;
  };

  const startSink = async (): Promise<AudioSink> => {
    const earlier = findEarlierPackets(cache, found);
    const samples = options.samples - (earlier?.from ?? 0) * PACKET_SAMPLES;
    sink = createSink({ ...options, samples, earlier, onPacket: takePacket });
    for (const block of blocks.splice(0)) await sink.write(block);
    return sink;
  };

  let entry = 0;
  let packets: SplicePacket[] = [];
  let count = 0;
  /** Takes the packets of the track in order. Adds the entries after those that were found. */
  const takePacket = async (data: Uint8Array): Promise<void> => {
    entry ||= found.keys.length;
    if (count++ < getFirstPacket(entry)) return;
    packets.push({ data, type: "key", rank: packets.length });
    // Samples that the encoder has not received yet have no digest: the track ends here.
    if (count < getEndPacket(entry) || entry >= digests.length) return;
    const content = formatSplice({ description: new Uint8Array(0), packets });
    await cache.add(createKey(entry), content);
    found.contentHash = sha256(content);
    entry++;
    packets = packets.slice(-SHARED_PACKETS).map((packet, rank) => ({ ...packet, rank }));
  };

  return {
    async write(block) {
      hasher.update(block);
      position += block.length / (4 * options.audioFormat.channels);
      const isEntryEnd = position === getEndPacket(digests.length) * PACKET_SAMPLES;
      // Before the encoder receives the samples: it may return the last packets at once.
      if (isEntryEnd) digests.push(hasher.copy().digest("hex"));
      if (sink !== null) return await sink.write(block);
      blocks.push(block);
      if (!isEntryEnd) return;
      if (await findEntry(digests.length - 1)) blocks = blocks.slice(-LOOKBACK_BLOCKS);
      else await startSink();
    },
    async end() {
      await (sink ?? (await startSink())).end();
      // A single encoder has written the file itself. Without entries, the next render takes longer.
      if (count === 0) await readPackets(options, takePacket).catch(() => {});
    },
    abort: async (error) => (sink === null ? error : await sink.abort(error)),
  };
}

const describeEncoder = (options: AacTrackOptions) => [
  options.ffmpeg.version,
  options.audioFormat,
  buildEncoderArguments(options),
  buildEncoderArguments(options, true),
];

/** Returns the packets of the entries that were found, for the join with those of a new encoder. */
function findEarlierPackets(cache: RenderCache, { keys, packets }: FoundEntries): EarlierPackets | undefined {
  const last = keys.length - 1;
  if (last < 0) return undefined;
  return {
    from: getEndPacket(last) - (LOOKBACK_BLOCKS * BLOCK_SAMPLES) / PACKET_SAMPLES,
    tail: { from: getFirstPacket(last), packets: packets.map(({ data }) => data) },
    async *read(to) {
      for (const [entry, key] of keys.entries()) {
        // Only the last one is in memory.
        const content = entry === last ? { packets } : await readEntry(cache, key, entry);
        const end = entry === last ? to : getFirstPacket(entry + 1);
        for (const { data } of content.packets.slice(0, end - getFirstPacket(entry))) yield data;
      }
    },
  };
}

async function readEntry(cache: RenderCache, key: string, entry: number) {
  const content = await cache.find(key);
  const parsed = content === null ? null : parseSplice(content, getEndPacket(entry) - getFirstPacket(entry));
  if (parsed === null) throw new AacJoinError("A cached part of the audio cannot be read.");
  return parsed;
}

/** Reads the packets of the encoded track, unless it has other packets than expected. */
async function readPackets(
  { path, samples, signal }: AacTrackOptions,
  onPacket: (packet: Uint8Array) => Promise<void>,
): Promise<void> {
  const structure = await readMp4Structure(path);
  if (structure?.tracks[0]?.sampleCount !== Math.ceil(samples / PACKET_SAMPLES) + 1) return;
  using input = new Input({ source: new FilePathSource(path), formats: [MP4] });
  const track = await input.getPrimaryAudioTrack();
  if (track === null) return;
  for await (const { data } of iteratePackets(new EncodedPacketSink(track))) {
    if (signal?.aborted) return;
    await onPacket(data);
  }
}
