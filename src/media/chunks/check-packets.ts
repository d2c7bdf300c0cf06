/** Reads every packet of an encoded chunk without decoding it. */
import { EncodedPacketSink } from "mediabunny";
import type { Rational } from "../../domain/time";
import { yieldToEventLoop } from "../../lib/event-loop";
import { parseNalUnits } from "../packets/bitstream";
import { changesParameterSets, parseAvcConfig } from "../packets/h264";
import { createPictureReader, parseSequenceFacts } from "../packets/h264-pictures";
import { checkMp4 } from "../packets/mp4-check";
import { computeDisplayRanks, iteratePackets, openVideoTrack, readTrackConfig } from "../packets/video-track";

/** The frames that a chunk must have. `frameRate` is that of its file: the finished render uses other times. */
export type ExpectedFrames = { frameCount: number; width: number; height: number; frameRate: Rational };

/** A group of pictures that can be decoded on its own: its start in seconds of the file, and its number of frames. */
export type PictureGroup = { start: number; frameCount: number };

const PACKETS_PER_YIELD = 500;
/** As a share of a frame's duration. Containers round times. */
const MAX_TIME_DEVIATION = 0.5;

/**
 * Returns the groups of pictures of a file; null if they cannot be determined without decoding. Throws a plain `Error`
 * with the problem: another size, another number of frames, packets that are not one frame each, a beginning that needs
 * other frames, parameter sets that change, or times that do not match the frames in their order.
 */
export async function readPictureGroups(path: string, expected: ExpectedFrames): Promise<PictureGroup[] | null> {
  await checkMp4(path);
  using file = await openVideoTrack(path);
  const config = await readTrackConfig(file.track);
  if (!config.codec.startsWith("avc1")) throw new Error(`The codec is ${config.codec}.`);
  requireSize(config.codedWidth, config.codedHeight, expected);
  const sets = parseAvcConfig(config.description);
  const facts = parseSequenceFacts(sets.sps[0] ?? new Uint8Array());
  if (sets.sps.length !== 1) throw new Error("The file has several sequence parameter sets.");
  if (facts === null) return null;
  requireSize(facts.width, facts.height, expected);
  const readPicture = createPictureReader(facts);
  const timestamps: number[] = [];
  const positions: { group: number; order: number }[] = [];
  const groups: PictureGroup[] = [];
  for await (const { data, timestamp } of iteratePackets(new EncodedPacketSink(file.track))) {
    if (timestamps.length % PACKETS_PER_YIELD === 0) await yieldToEventLoop();
    const units = parseNalUnits(data, sets.lengthSize);
    if (changesParameterSets(units, sets)) throw new Error("The parameter sets change.");
    const { isIdr, order } = readPicture(units);
    if (isIdr) groups.push({ start: timestamp, frameCount: 0 });
    const group = groups.at(-1);
    if (group === undefined) throw new Error("The first frame depends on others.");
    group.frameCount++;
    positions.push({ group: groups.length, order });
    timestamps.push(timestamp);
  }
  if (timestamps.length !== expected.frameCount)
    throw new Error(`The file has ${timestamps.length} frames, expected ${expected.frameCount}.`);
  requireTimes(timestamps, positions, expected.frameRate);
  return groups;
}

function requireSize(width: number, height: number, expected: ExpectedFrames): void {
  if (width !== expected.width || height !== expected.height)
    throw new Error(`The frames are ${width}x${height}, expected ${expected.width}x${expected.height}.`);
}

/** The join assigns new times in file order, which must be the order of the pictures. */
function requireTimes(timestamps: number[], positions: { group: number; order: number }[], rate: Rational): void {
  const ranks = computeDisplayRanks(timestamps);
  const shown = new Int32Array(ranks.length);
  ranks.forEach((rank, packet) => {
    shown[rank] = packet;
  });
  const first = timestamps[shown[0]!]!;
  const seconds = rate.den / rate.num;
  for (const [rank, packet] of shown.entries()) {
    if (Math.abs(timestamps[packet]! - first - rank * seconds) > seconds * MAX_TIME_DEVIATION)
      throw new Error(`The time of frame ${rank} is not that of a frame.`);
    const { group, order } = positions[packet]!;
    const before = rank === 0 ? { group: 0, order: 0 } : positions[shown[rank - 1]!]!;
    if (group < before.group || (group === before.group && order <= before.order))
      throw new Error(`The time of frame ${rank} is not in the order of the pictures.`);
  }
}
