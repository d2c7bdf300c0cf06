/** The smart render: packets of the source are copied, and only what lies around the joins is encoded anew. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { EncodedPacketSink } from "mediabunny";
import type { RenderRequest, VideoStream } from "../domain/media";
import { type OutputTimes, ownOutputTimes, type Timeline } from "../domain/render-plan";
import { neededPackets, type SmartPiece, startBefore } from "../domain/smart-plan";
import { type RenderTools, threadsFor } from "./chunked";
import { sameBytes } from "./packets/bits";
import { NotSpliced, orNotSpliced, packetsBetween } from "./packets/source";
import { parseStream } from "./packets/stream";
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
import { joinedDescription, joinedPacket } from "./smart/piece-stream";
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

/** Above this share there is little left to copy, and a render from scratch takes fewer bits; but it would be H.264. */
const ENCODED_SHARE_MOST = { h264: 0.95, hevc: 1 };
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
    if (share > ENCODED_SHARE_MOST[source.stream.codec])
      throw new NotSpliced(`${Math.round(share * 100)}% would be encoded`);
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
  const { ffmpeg, jobs, signal, shouldPause, encoderSemaphore } = tools;
  return await encodeSplices({
    ...{ ffmpeg, source, sourcePath, probed, tasks, workDir, jobs, threads: threadsFor(jobs), onFrames },
    ...(shouldPause === undefined ? {} : { shouldPause }),
    ...(encoderSemaphore === undefined ? {} : { encoderSemaphore }),
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
  const config: TrackConfig = { ...source.config, description: await descriptionOf(source, paths) };
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

/** The configuration of the whole. The pieces' own must be the same everywhere. */
async function descriptionOf(source: SmartSource, paths: readonly string[]): Promise<Uint8Array> {
  let first: TrackConfig | null = null;
  for (const path of paths) {
    const config = await withVideoTrack(path, trackConfig);
    first ??= config;
    if (!sameBytes(first.description, config.description))
      throw new NotSpliced("the pieces have different parameter sets");
  }
  return orNotSpliced(() => joinedDescription(source.stream, source.splice, first));
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
  const { packet: from, packetEnd: to } = piece;
  const starts = new Set(source.order.starts.filter((start) => start >= from && start < to));
  const isKept = (frame: number) => frame >= piece.from;
  for await (const { place, frame, data } of packetsBetween(source, { from, to }, isKept)) {
    if (place % 500 === 0) await letOthersRun();
    signal?.throwIfAborted();
    yield { data, type: starts.has(place) ? "key" : "delta", ...timed(frame - piece.from) };
  }
}

/** The stretches of the output that are decoded to prove the joins. */
export function checkedWindows(plan: SmartPlan): Window[] {
  const { frames, starts } = plan.source.order;
  // A decoder that goes on from other pictures would look for those that leading ones refer to.
  const alone = { frames, starts: starts.filter((packet) => !(frames[packet + 1]! < frames[packet]!)) };
  return joinWindows(plan.pieces, (frame) => startBefore(frame, alone));
}

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
    const { splice, stream } = plan.source;
    const { track, close } = await openVideoTrack(paths[n]!);
    try {
      const config = await trackConfig(track);
      const { lengthSize } = orNotSpliced(() => parseStream(stream.codec, config)).sets;
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
        yield { data: orNotSpliced(() => joinedPacket(splice, data, lengthSize)), type, rank: ranks[place++]! };
    } finally {
      close();
    }
  }
}
