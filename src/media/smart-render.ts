/** The smart render: packets of the source are copied, and only what lies around the joins is encoded anew. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EncodedPacketSink } from "mediabunny";
import type { RenderRequest, VideoStream } from "../domain/media";
import { type OutputTimes, ownOutputTimes, type Timeline } from "../domain/render-plan";
import { neededPackets, type SmartPiece, startBefore } from "../domain/smart-plan";
import { type RenderTools, threadsFor } from "./chunked";
import {
  type AvcConfig,
  buildAvcConfig,
  mergeAvcConfigs,
  parseAvcConfig,
  sameBytes,
  withLongLengths,
} from "./packets/h264";
import { NotSpliced, packetAt, unitsOf } from "./packets/source";
import {
  displayRanks,
  openVideoTrack,
  packetsFrom,
  type TrackConfig,
  type TrackPacket,
  timestampsOf,
  trackConfig,
  withVideoTrack,
  writeVideoTrack,
} from "./packets/video-track";
import { letOthersRun } from "./parallel";
import { decodeWindows, joinWindows, type Window, windowList } from "./smart/join-check";
import { openSmartSource, piecesOf, type SmartSource } from "./smart/source";
import { encodeSplices, groupSplices, type SpliceTask } from "./smart/splice-encode";
import { writeWhole } from "./work-files";

/** Everything that a smart render does, decided. */
export type SmartPlan = {
  source: SmartSource;
  pieces: SmartPiece[];
  tasks: SpliceTask[];
  output: OutputTimes;
  rotation: VideoStream["rotation"];
  frameCount: number;
  encodedCount: number;
};

/** Above this share there is little left to copy, and a render from scratch takes fewer bits. */
const ENCODED_SHARE_MOST = 0.95;
/** Frames that one process encodes: enough to be worth starting it, few enough to share the work out and to stop between two. */
const TASK_FRAMES = { least: 120, most: 300 };

/** Decides what is copied. The caller closes the plan's source. Errors: `NotSpliced` with the reason; the signal's reason. */
export async function planSmart(request: RenderRequest, timeline: Timeline, tools: RenderTools): Promise<SmartPlan> {
  const { probed } = request;
  const source = await openSmartSource(request.sourcePath, probed, tools.signal);
  try {
    const pieces: SmartPiece[] = [];
    for (const segment of timeline.segments) pieces.push(...(await piecesOf(source, segment.frames!)));
    const encoded = pieces.filter((piece) => piece.kind === "encode");
    const encodedCount = encoded.reduce((sum, { from, to }) => sum + to - from, 0);
    const share = encodedCount / timeline.frameCount;
    if (share > ENCODED_SHARE_MOST) throw new NotSpliced(`${Math.round(share * 100)}% would be encoded`);
    const each = Math.min(TASK_FRAMES.most, Math.max(TASK_FRAMES.least, Math.ceil(encodedCount / tools.jobs)));
    const shares = (before: SmartPiece, piece: SmartPiece) =>
      neededPackets(piece, source.order).from < neededPackets(before, source.order).to;
    return {
      ...{ source, pieces, encodedCount, frameCount: timeline.frameCount },
      tasks: groupSplices(encoded, each, tools.jobs, shares),
      output: ownOutputTimes(timeline, probed.frames!),
      rotation: probed.info.video!.rotation,
    };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** Encodes what must be. Errors: as `encodeSplices`. */
export async function encodeSmart(
  plan: SmartPlan,
  request: RenderRequest,
  tools: RenderTools,
  onFrames: (frames: number) => void,
): Promise<{ paths: string[]; reused: number }> {
  const { source, tasks } = plan;
  const { sourcePath, probed, workDir } = request;
  const { ffmpeg, jobs, signal, shouldPause } = tools;
  return await encodeSplices({
    ...{ ffmpeg, source, sourcePath, probed, tasks, workDir, jobs, threads: threadsFor(jobs), onFrames },
    ...(shouldPause === undefined ? {} : { shouldPause }),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Writes the picture: copied and encoded packets as one track. Errors: `NotSpliced`; those of writing; the signal's reason. */
export async function writeSmartPicture(
  plan: SmartPlan,
  paths: readonly string[],
  outputPath: string,
  signal?: AbortSignal,
  onFrames?: (frames: number) => void,
): Promise<void> {
  const { source, output, rotation } = plan;
  const encoder = await encoderConfig(paths);
  const avc: AvcConfig = encoder === null ? source.avc : merge(source.avc, encoder);
  const config: TrackConfig = { ...source.config, description: buildAvcConfig(avc) };
  const rate = output.constantRate;
  await writeWhole(outputPath, (part) =>
    writeVideoTrack({
      ...{ path: part, config, rotation },
      constantRate: rate === null ? null : rate.num / rate.den,
      packets: packetsOf(plan, paths, signal),
      ...(onFrames === undefined ? {} : { onPackets: onFrames }),
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
  const encoded = encodedPackets(plan, paths);
  let at = 0;
  for (const piece of plan.pieces) {
    signal?.throwIfAborted();
    const first = at;
    const timed = (rank: number) => ({
      timestamp: times[first + rank]!,
      duration: times[first + rank + 1]! - times[first + rank]!,
    });
    if (piece.kind === "copy") yield* copiedPackets(plan.source, piece, timed, signal);
    else yield* encodedPiece(encoded, piece, timed);
    at += piece.to - piece.from;
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
  for await (const packet of packetsFrom(source.sink, { start: await packetAt(source, place) })) {
    if (place % 500 === 0) await letOthersRun();
    signal?.throwIfAborted();
    if (packet.timestamp !== source.timestamps[place]) throw new NotSpliced("packets come in another order");
    unitsOf(packet, source);
    yield {
      data: withLongLengths(packet.data, source.avc.lengthSize),
      type: starts.has(place) ? "key" : "delta",
      ...timed(source.order.frames[place]! - piece.from),
    };
    if (++place >= end) return;
  }
  throw new NotSpliced("the source ends before its table");
}

/** The stretches of the output that are decoded to prove the joins. */
export const checkedWindows = (plan: SmartPlan): Window[] =>
  joinWindows(plan.pieces, (frame) => startBefore(frame, plan.source.order));

/** Decodes the joins of the finished file. Errors: `NotSpliced` on anything that a decoder complains of; the signal's reason. */
export async function checkJoins(
  plan: SmartPlan,
  path: string,
  workDir: string,
  tools: RenderTools,
  onFrames: (frames: number) => void,
): Promise<void> {
  const windows = checkedWindows(plan);
  if (windows.length === 0) return;
  const listPath = join(workDir, `joins-${randomUUID()}.txt`);
  try {
    await Bun.write(listPath, windowList(path, windows, plan.output.times));
    const complaint = await decodeWindows({
      ...{ ffmpeg: tools.ffmpeg, listPath, onFrames },
      ...(tools.signal === undefined ? {} : { signal: tools.signal }),
    });
    if (complaint !== null) throw new NotSpliced(`the result does not decode: ${complaint}`);
  } finally {
    await rm(listPath, { force: true });
  }
}

type EncodedFrame = { data: Uint8Array; type: "key" | "delta"; rank: number };

async function* encodedPiece(
  encoded: AsyncGenerator<EncodedFrame, void>,
  { from, to }: SmartPiece,
  timed: Timed,
): AsyncGenerator<TrackPacket> {
  for (let n = 0; n < to - from; n++) {
    const next = await encoded.next();
    if (next.done || (n === 0 && next.value.type !== "key")) throw new NotSpliced("a piece is not as planned");
    const { data, type, rank } = next.value;
    yield { data, type, ...timed(rank) };
  }
}

/** The packets of all encoded pieces in the order of the plan, each with its place among those that its piece shows. */
async function* encodedPackets(plan: SmartPlan, paths: readonly string[]): AsyncGenerator<EncodedFrame, void> {
  for (const [n, task] of plan.tasks.entries()) {
    const { track, close } = await openVideoTrack(paths[n]!);
    try {
      const { lengthSize } = parseAvcConfig((await trackConfig(track)).description);
      const sink = new EncodedPacketSink(track);
      const timestamps = await timestampsOf(sink);
      if (timestamps.length !== task.frameCount) throw new NotSpliced("a piece is not as planned");
      let at = 0;
      const ranks = task.pieces.flatMap(({ from, to }) => {
        const own = timestamps.subarray(at, at + to - from);
        at += own.length;
        return [...displayRanks(own)];
      });
      let place = 0;
      for await (const { data, type } of packetsFrom(sink))
        yield { data: withLongLengths(data, lengthSize), type, rank: ranks[place++]! };
    } finally {
      close();
    }
  }
}
