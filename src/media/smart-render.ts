/** Smart rendering: packets of the source are copied, and only the frames around splices are encoded. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EncodedPacketSink } from "mediabunny";
import type { RenderRequest, VideoStream } from "../domain/media";
import { type OutputTimes, type RenderTimeline, toSourceOutputTimes } from "../domain/render-plan";
import { getRandomAccessFrame, planDecodeRange, type SpliceSegment } from "../domain/smart-plan";
import { yieldToEventLoop } from "../lib/event-loop";
import { writeAtomically } from "./atomic-output";
import { getThreadCount } from "./chunked-plan";
import type { RenderTools } from "./chunked-render";
import { isSameBytes } from "./packets/bits";
import {
  type Bitstream,
  buildDecoderDescription,
  buildPacket,
  parseBitstream,
  parseNalUnits,
} from "./packets/bitstream";
import { mergeAvcConfigs } from "./packets/h264";
import { mergeHevcConfigs, renumberNalUnit, renumberParameterSets } from "./packets/hevc";
import { readSourcePackets, SpliceError, withSpliceError } from "./packets/source";
import {
  computeDisplayRanks,
  iteratePackets,
  openVideoTrack,
  readFileConfig,
  readTimestamps,
  readTrackConfig,
  type VideoTrackConfig,
  type VideoTrackPacket,
  writeVideoTrack,
} from "./packets/video-track";
import type { SplicePacket } from "./render-cache/splice-entries";
import { type CachedSplices, findCachedSplices } from "./smart/cached-splices";
import { listDecodeStarts, openSmartSource, planRange, type SmartSource } from "./smart/source";
import type { SpliceCodec } from "./smart/splice-arguments";
import { type CheckWindow, decodeCheckWindows, formatConcatList, planCheckWindows } from "./smart/splice-check";
import { encodeSplices, groupSpliceTasks, type SpliceTask } from "./smart/splice-encode";

export type SmartPlan = {
  source: SmartSource;
  segments: SpliceSegment[];
  /** Segments that an earlier render has encoded. */
  cached: CachedSplices;
  /** The other segments to encode. */
  tasks: SpliceTask[];
  outputTimes: OutputTimes;
  rotation: VideoStream["rotation"];
  frameCount: number;
  /** Number of frames that are not copied. `missingCount` of them are not in the cache either. */
  encodedCount: number;
  missingCount: number;
  /** Packets of copied segments at which a decoder can start, ascending. */
  decodeStarts: Int32Array;
};

/** Above this share, a full encode takes fewer bits. For HEVC, it would also change the codec to H.264. */
const MAX_ENCODED_SHARE = { h264: 0.95, hevc: 1 };
/**
 * Frames per encoder process: worth its start, but few enough to balance the load and to stop between tasks. Some tasks
 * have twice as many or more, because every process gets the same number of tasks and segments are not divided.
 */
const MIN_TYPICAL_TASK_FRAMES = 120;
const MAX_TYPICAL_TASK_FRAMES = 600;

/** Plans which packets to copy. The caller closes the plan's source. Errors: `SpliceError`; the signal's reason. */
export async function planSmartRender(
  request: RenderRequest,
  timeline: RenderTimeline,
  tools: RenderTools,
): Promise<SmartPlan> {
  const { probed } = request;
  const source = await openSmartSource(request.sourcePath, probed, tools.signal);
  try {
    const segments: SpliceSegment[] = [];
    for (const segment of timeline.segments) segments.push(...(await planRange(source, segment.frames!)));
    const encoded = segments.filter((segment) => segment.kind === "encode");
    const encodedCount = encoded.reduce((sum, { from, to }) => sum + to - from, 0);
    const share = encodedCount / timeline.frameCount;
    if (share > MAX_ENCODED_SHARE[source.bitstream.codec])
      throw new SpliceError(`${Math.round(share * 100)}% of the frames would be encoded.`);
    const { sourcePath } = request;
    const cached = await findCachedSplices(tools.cache, encoded, { source, sourcePath, probed, ffmpeg: tools.ffmpeg });
    const missing = encoded.filter((segment) => !cached.has(segment));
    const missingCount = missing.reduce((sum, { from, to }) => sum + to - from, 0);
    const taskFrames = Math.min(
      MAX_TYPICAL_TASK_FRAMES,
      Math.max(MIN_TYPICAL_TASK_FRAMES, Math.ceil(missingCount / tools.maxProcesses)),
    );
    const sharesPackets = (previous: SpliceSegment, segment: SpliceSegment) =>
      planDecodeRange(segment, source.order).from < planDecodeRange(previous, source.order).to;
    return {
      source,
      segments,
      frameCount: timeline.frameCount,
      encodedCount,
      missingCount,
      cached,
      decodeStarts: await listDecodeStarts(source, segments),
      tasks: groupSpliceTasks(missing, taskFrames, tools.maxProcesses, sharesPackets),
      outputTimes: toSourceOutputTimes(timeline, probed.frames!),
      rotation: probed.info.video!.rotation,
    };
  } catch (error) {
    source[Symbol.dispose]();
    throw error;
  }
}

/** Encodes the segments that cannot be copied. Errors: those of `encodeSplices`. */
export async function encodeSmartSegments(
  plan: SmartPlan,
  request: RenderRequest,
  tools: RenderTools,
  onFrames: (frames: number) => void,
): Promise<{ paths: string[]; reused: number }> {
  const { source, tasks } = plan;
  const { sourcePath, probed, workDir } = request;
  const threads = getThreadCount(tools.maxProcesses);
  return await encodeSplices({ ...tools, source, sourcePath, probed, tasks, workDir, threads, onFrames });
}

/** Writes copied and encoded packets as one track. Errors: `SpliceError`; those of writing; the signal's reason. */
export async function writeSmartVideo(
  plan: SmartPlan,
  paths: readonly string[],
  outputPath: string,
  signal?: AbortSignal,
  onFrames?: (frames: number) => void,
): Promise<void> {
  const { source, outputTimes, rotation } = plan;
  const encoder = await readEncoderConfig(plan, paths);
  const description = withSpliceError(() => mergeDescriptions(source.bitstream, source.splice, encoder));
  const config: VideoTrackConfig = { ...source.config, description };
  const rate = outputTimes.constantRate;
  await writeAtomically(outputPath, (tempPath) =>
    writeVideoTrack({
      path: tempPath,
      config,
      rotation,
      constantRate: rate === null ? null : rate.num / rate.den,
      packets: readSplicedPackets(plan, paths, encoder, signal),
      onPackets: onFrames,
    }),
  );
}

type EncoderConfig = Pick<VideoTrackConfig, "codec" | "description">;

/**
 * Returns the configuration of the encoded segments, which is the same for all of them, or null without encoded
 * segments.
 */
async function readEncoderConfig(
  { source, cached }: SmartPlan,
  paths: readonly string[],
): Promise<EncoderConfig | null> {
  const { description } = cached;
  let first: EncoderConfig | null = description === null ? null : { codec: source.config.codec, description };
  for (const path of paths) {
    const config = await readFileConfig(path);
    first ??= config;
    if (!isSameBytes(first.description, config.description))
      throw new SpliceError("Encoded segments have different parameter sets.");
  }
  return first;
}

async function* readSplicedPackets(
  plan: SmartPlan,
  paths: readonly string[],
  encoder: EncoderConfig | null,
  signal: AbortSignal | undefined,
): AsyncGenerator<VideoTrackPacket> {
  const { cached } = plan;
  const { times } = plan.outputTimes;
  const encoded = readEncodedPackets(plan, paths);
  let position = 0;
  for (const segment of plan.segments) {
    signal?.throwIfAborted();
    const first = position;
    const toTiming = (rank: number) => ({
      timestamp: times[first + rank]!,
      duration: times[first + rank + 1]! - times[first + rank]!,
    });
    if (segment.kind === "copy") yield* readCopiedPackets(plan.source, segment, toTiming, signal);
    else {
      const isCached = cached.has(segment);
      const packets = isCached ? await cached.read(segment) : await readEncodedSegment(encoded, segment);
      for (const { data, type, rank } of packets) yield { data, type, ...toTiming(rank) };
      if (!isCached && encoder !== null) await cached.add(segment, { description: encoder.description, packets });
    }
    position += segment.to - segment.from;
  }
}

type PacketTiming = (rank: number) => { timestamp: number; duration: number };

async function* readCopiedPackets(
  source: SmartSource,
  segment: SpliceSegment & { kind: "copy" },
  toTiming: PacketTiming,
  signal: AbortSignal | undefined,
): AsyncGenerator<VideoTrackPacket> {
  const { firstPacket: from, endPacket: to } = segment;
  const keyPackets = new Set(source.order.randomAccessPoints.filter((start) => start >= from && start < to));
  const isKept = (frame: number) => frame >= segment.from;
  for await (const { index, frame, data } of readSourcePackets(source, { from, to }, isKept)) {
    if (index % 500 === 0) await yieldToEventLoop();
    signal?.throwIfAborted();
    yield { data, type: keyPackets.has(index) ? "key" : "delta", ...toTiming(frame - segment.from) };
  }
}

/** Returns the windows of the output that are decoded to check the splices. */
export function listCheckWindows(plan: SmartPlan): CheckWindow[] {
  const starts = { frames: plan.source.order.frames, randomAccessPoints: plan.decodeStarts };
  const findRandomAccessFrame = (frame: number) => getRandomAccessFrame(frame, starts);
  return planCheckWindows(plan.segments, findRandomAccessFrame, plan.cached.has);
}

/** Decodes the splices of the video track. Errors: `SpliceError` on any decoder message; the signal's reason. */
export async function checkSplices(
  plan: SmartPlan,
  path: string,
  workDir: string,
  tools: RenderTools,
  onFrames: (frames: number) => void,
): Promise<void> {
  const windows = listCheckWindows(plan);
  if (windows.length === 0) return;
  const listPath = join(workDir, `splices-${randomUUID()}.txt`);
  try {
    await Bun.write(listPath, formatConcatList(path, windows, plan.outputTimes.times));
    const message = await decodeCheckWindows({
      ffmpeg: tools.ffmpeg,
      listPath,
      signal: tools.signal,
      onFrames,
    });
    if (message !== null) throw new SpliceError(`The result does not decode: ${message}`);
  } finally {
    await rm(listPath, { force: true });
  }
}

async function readEncodedSegment(
  encoded: AsyncGenerator<SplicePacket, void>,
  { from, to }: SpliceSegment,
): Promise<SplicePacket[]> {
  const packets: SplicePacket[] = [];
  while (packets.length < to - from) {
    const next = await encoded.next();
    if (next.done) throw new SpliceError(`An encoded segment has ${packets.length} frames, expected ${to - from}.`);
    packets.push(next.value);
  }
  if (packets[0]!.type !== "key") throw new SpliceError("An encoded segment does not start with an IDR picture.");
  return packets;
}

/** Reads the packets of all tasks in plan order, each with its rank in the display order of its segment. */
async function* readEncodedPackets(plan: SmartPlan, paths: readonly string[]): AsyncGenerator<SplicePacket, void> {
  for (const [n, task] of plan.tasks.entries()) {
    const { splice, bitstream } = plan.source;
    using file = await openVideoTrack(paths[n]!);
    const config = await readTrackConfig(file.track);
    const { lengthSize } = withSpliceError(() => parseBitstream(bitstream.codec, config)).parameterSets;
    const sink = new EncodedPacketSink(file.track);
    const timestamps = await readTimestamps(sink);
    if (timestamps.length !== task.frameCount)
      throw new SpliceError(`An encoded task has ${timestamps.length} frames, expected ${task.frameCount}.`);
    let position = 0;
    const ranks = task.segments.flatMap(({ from, to }) => {
      const taskTimestamps = timestamps.subarray(position, position + to - from);
      position += taskTimestamps.length;
      return [...computeDisplayRanks(taskTimestamps)];
    });
    let index = 0;
    for await (const { data, type } of iteratePackets(sink))
      yield { data: withSpliceError(() => toSplicedPacket(splice, data, lengthSize)), type, rank: ranks[index++]! };
  }
}

/**
 * Returns the source's decoder configuration with the parameter sets of the encoded segments added. Errors: a plain
 * `Error` if they are incompatible.
 */
function mergeDescriptions(
  source: Bitstream,
  splice: SpliceCodec,
  encoded: { codec: string; description: Uint8Array } | null,
): Uint8Array {
  if (encoded === null) return buildDecoderDescription(source);
  const encoder = parseBitstream(source.codec, encoded);
  if (source.codec === "h264" && encoder.codec === "h264")
    return buildDecoderDescription({
      codec: "h264",
      parameterSets: mergeAvcConfigs(source.parameterSets, encoder.parameterSets),
    });
  if (source.codec === "hevc" && encoder.codec === "hevc" && splice.codec === "hevc") {
    const parameterSets = mergeHevcConfigs(
      source.parameterSets,
      renumberParameterSets(encoder.parameterSets, splice.ids),
    );
    return buildDecoderDescription({ codec: "hevc", parameterSets });
  }
  throw new Error("Encoded segments have another codec than the source.");
}

/**
 * Returns a packet of an encoded segment as it appears in the spliced stream. Errors: a plain `Error` if it is not in
 * the form that the encoder writes.
 */
function toSplicedPacket(splice: SpliceCodec, packet: Uint8Array, lengthSize: number): Uint8Array {
  if (splice.codec === "h264" && lengthSize === 4) return packet;
  const units = parseNalUnits(packet, lengthSize);
  return buildPacket(splice.codec === "h264" ? units : units.map((unit) => renumberNalUnit(unit, splice.ids)));
}
