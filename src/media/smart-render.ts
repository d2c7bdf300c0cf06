/** The smart render: packets of the source are copied, and only what lies around the joins is encoded anew. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EncodedPacketSink } from "mediabunny";
import type { RenderRequest } from "../domain/media";
import {
  type Chunk,
  groupPieces,
  type OutputTimes,
  outTimeOf,
  ownOutputTimes,
  type Timeline,
} from "../domain/render-plan";
import type { SmartPiece } from "../domain/smart-plan";
import type { ChunkSettings, ChunkTask } from "./chunk-encode";
import { type EncodedChunks, encodeChunks, type RenderTools, threadsFor } from "./chunked";
import { type AvcConfig, buildAvcConfig, mergeAvcConfigs, parseAvcConfig, sameBytes, withLongLengths } from "./h264";
import { decodeWindows, joinWindows, windowList } from "./join-check";
import { letOthersRun } from "./parallel";
import { NotSpliced, openSmartSource, packetAt, piecesOf, type SmartSource, unitsOf } from "./smart-source";
import {
  displayRanks,
  type TrackConfig,
  type TrackPacket,
  trackConfig,
  withVideoTrack,
  writeVideoTrack,
} from "./video-track";
import { writeWhole } from "./work-files";

/** Everything that a smart render does, decided. */
export type SmartPlan = {
  source: SmartSource;
  pieces: SmartPiece[];
  settings: ChunkSettings;
  tasks: ChunkTask[];
  output: OutputTimes;
  frameCount: number;
  encodedCount: number;
};

/** Above this share a render from scratch is as fast. */
const ENCODED_SHARE_MOST = 0.85;
const SIZES = { frames: 600, gapFrames: 75, pieces: 8 };
/** How far above the source's rate the pieces may go. */
const CEILING_SHARE = 1.5;
const CEILING_LEAST = 500_000;

/** Decides what is copied. The caller closes the plan's source. Errors: `NotSpliced` with the reason; the signal's reason. */
export async function planSmart(request: RenderRequest, timeline: Timeline, tools: RenderTools): Promise<SmartPlan> {
  const { probed } = request;
  const frames = probed.frames!;
  const source = await openSmartSource(request.sourcePath, probed, tools.signal);
  try {
    const pieces: SmartPiece[] = [];
    const encoded: { piece: Chunk["pieces"][number]; outEnd: number }[] = [];
    for (const segment of timeline.segments)
      for (const piece of await piecesOf(source, segment.frames!)) {
        pieces.push(piece);
        if (piece.kind === "copy") continue;
        const outStart = outTimeOf(segment, frames, piece.from);
        const outEnd = outTimeOf(segment, frames, piece.to);
        encoded.push({ piece: { from: piece.from, to: piece.to, sourceStart: 0, outStart }, outEnd });
      }
    const encodedCount = encoded.reduce((sum, { piece }) => sum + piece.to - piece.from, 0);
    const share = encodedCount / timeline.frameCount;
    if (share > ENCODED_SHARE_MOST) throw new NotSpliced(`${Math.round(share * 100)}% would be encoded`);
    const video = probed.info.video!;
    const ceiling = video.bitrate === null ? null : Math.max(CEILING_LEAST, Math.round(video.bitrate * CEILING_SHARE));
    const settings: ChunkSettings = {
      ...{ sourcePath: request.sourcePath, probed, width: video.codedWidth, height: video.codedHeight },
      ...{ rate: frames.rate, quality: { ceiling }, encoder: "libx264", threads: threadsFor(tools.jobs) },
      splice: source.splice,
    };
    const tasks = groupPieces(encoded, SIZES).map(
      (chunk): ChunkTask => ({ chunk, timing: { kind: "counted", rate: frames.rate }, frameCount: chunk.frameCount }),
    );
    const output = ownOutputTimes(timeline, frames);
    return { source, pieces, settings, tasks, output, frameCount: timeline.frameCount, encodedCount };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** Encodes what must be. Errors: as `encodeChunks`. */
export const encodeSmart = (
  plan: SmartPlan,
  workDir: string,
  tools: RenderTools,
  onFrames: (frames: number) => void,
): Promise<EncodedChunks> => encodeChunks(plan, workDir, tools, onFrames);

/** Writes the picture: copied and encoded packets as one track. Errors: `NotSpliced`; those of writing; the signal's reason. */
export async function writeSmartPicture(
  plan: SmartPlan,
  paths: readonly string[],
  outputPath: string,
  signal?: AbortSignal,
): Promise<void> {
  const { source, output, settings } = plan;
  const encoder = await encoderConfig(paths);
  const avc: AvcConfig = encoder === null ? source.avc : merge(source.avc, encoder);
  const config: TrackConfig = { ...source.config, description: buildAvcConfig(avc) };
  const rate = output.constantRate;
  await writeWhole(outputPath, (part) =>
    writeVideoTrack({
      ...{ path: part, config, rotation: settings.probed.info.video!.rotation },
      constantRate: rate === null ? null : rate.num / rate.den,
      packets: packetsOf(plan, paths, signal),
    }),
  );
}

function merge(source: AvcConfig, encoder: AvcConfig): AvcConfig {
  try {
    return mergeAvcConfigs(source, encoder);
  } catch (error) {
    throw new NotSpliced(String(error));
  }
}

/** The parameter sets of all chunks, which must be the same. Null without chunks. */
async function encoderConfig(paths: readonly string[]): Promise<AvcConfig | null> {
  let first: Uint8Array | null = null;
  for (const path of paths) {
    const { description } = await withVideoTrack(path, trackConfig);
    first ??= description;
    if (!sameBytes(first, description)) throw new NotSpliced("the pieces have different parameter sets");
  }
  return first === null ? null : parseAvcConfig(first);
}

async function* packetsOf(
  plan: SmartPlan,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): AsyncGenerator<TrackPacket> {
  const { times } = plan.output;
  const encoded = encodedPieces(plan, paths);
  let at = 0;
  for (const piece of plan.pieces) {
    signal?.throwIfAborted();
    const count = piece.to - piece.from;
    const timed = (rank: number) => ({
      timestamp: times[at + rank]!,
      duration: times[at + rank + 1]! - times[at + rank]!,
    });
    if (piece.kind === "copy") yield* copiedPackets(plan.source, piece, timed, signal);
    else {
      const next = await encoded.next();
      const packets = next.done ? [] : next.value;
      if (packets.length !== count || packets[0]?.type !== "key") throw new NotSpliced("a piece is not as planned");
      const ranks = displayRanks(packets.map((packet) => packet.timestamp));
      for (const [n, packet] of packets.entries()) yield { data: packet.data, type: packet.type, ...timed(ranks[n]!) };
    }
    at += count;
  }
}

type Timed = (rank: number) => { timestamp: number; duration: number };

async function* copiedPackets(
  source: SmartSource,
  piece: SmartPiece & { kind: "copy" },
  timed: Timed,
  signal: AbortSignal | undefined,
): AsyncGenerator<TrackPacket> {
  const end = piece.packet + piece.to - piece.from;
  const starts = new Set(source.order.starts.filter((start) => start >= piece.packet && start < end));
  let place = piece.packet;
  for await (const packet of source.sink.packets(await packetAt(source, place))) {
    if (place >= end) return;
    if (place % 500 === 0) await letOthersRun();
    signal?.throwIfAborted();
    if (packet.timestamp !== source.timestamps[place]) throw new NotSpliced("packets come in another order");
    unitsOf(packet, source);
    yield {
      data: withLongLengths(packet.data, source.avc.lengthSize),
      type: starts.has(place) ? "key" : "delta",
      ...timed(source.order.frames[place]! - piece.from),
    };
    place++;
  }
  if (place < end) throw new NotSpliced("the source ends before its table");
}

/** Decodes the joins of the finished file. Errors: `NotSpliced` on anything that a decoder complains of; the signal's reason. */
export async function checkJoins(plan: SmartPlan, path: string, workDir: string, tools: RenderTools): Promise<void> {
  const { frames, starts } = plan.source.order;
  const keyframes = Array.from(starts, (packet) => frames[packet]!);
  const windows = joinWindows(plan.pieces, (frame) => keyframes.findLast((start) => start <= frame) ?? 0);
  if (windows.length === 0) return;
  const listPath = join(workDir, `joins-${randomUUID()}.txt`);
  try {
    await Bun.write(listPath, windowList(path, windows, plan.output.times));
    const complaint = await decodeWindows({
      ...{ ffmpeg: tools.ffmpeg, listPath },
      ...(tools.signal === undefined ? {} : { signal: tools.signal }),
    });
    if (complaint !== null) throw new NotSpliced(`the result does not decode: ${complaint}`);
  } finally {
    await rm(listPath, { force: true });
  }
}

type EncodedPiece = { data: Uint8Array; type: "key" | "delta"; timestamp: number }[];

/** The packets of each encoded piece, in the order of the plan. */
async function* encodedPieces(plan: SmartPlan, paths: readonly string[]): AsyncGenerator<EncodedPiece> {
  for (const [n, task] of plan.tasks.entries()) {
    const packets = await withVideoTrack(paths[n]!, async (track) => {
      const { lengthSize } = parseAvcConfig((await trackConfig(track)).description);
      const all = await Array.fromAsync(new EncodedPacketSink(track).packets());
      return all.map(({ data, type, timestamp }) => ({ data: withLongLengths(data, lengthSize), type, timestamp }));
    });
    let at = 0;
    for (const { from, to } of task.chunk.pieces) {
      yield packets.slice(at, at + to - from);
      at += to - from;
    }
  }
}
