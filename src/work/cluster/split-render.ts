/**
 * Runs one long render at several places: plans its chunks, has them encoded in parallel, checks the returned files,
 * and joins them. Finished chunks are in the work folder of the render, where a later attempt finds them, also one at a
 * single place.
 */
import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { getRenderOutputName } from "../../blobs/folders";
import { AppError } from "../../domain/errors";
import { ExecutionLost, JobYielded, type Slot } from "../../domain/jobs";
import type { ResolvedOutput } from "../../domain/media";
import { isSameEncoding } from "../../domain/places";
import { getChecker, strictObject } from "../../domain/schema-parts";
import { TICKS_PER_SECOND } from "../../domain/time";
import { sleep } from "../../lib/sleep";
import { MAX_IDLE_MS } from "../../media/chunks/schedule";
import { CHUNK_SIZES_FILE, parseChunkSizes, readChunkSizes, writeChunkSizes } from "../../media/chunks/sizes-file";
import type { VideoEncoder } from "../../media/encoder-arguments";
import { FALLBACK_PIXELS_PER_SECOND, MIN_SPLIT_SECONDS, type SplitPlan } from "../../media/split-render";
import { REPAIRED_WARNING } from "../../media/warnings";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import { AUDIO_NAME, CHUNK_NAME, type SplitInput, type SplitOutput } from "../jobs/split-run";
import {
  type EncodeOptions,
  encodePieces,
  INCOMING_FOLDER,
  type Piece,
  type PieceCall,
  type SplitPlace,
} from "./encode-pieces";
import { InvalidResultError } from "./result-shapes";

export type SplitRenderOptions = Omit<EncodeOptions, "done" | "fallbackSpeed" | "pieces" | "pixels"> & {
  outputDir: string;
  /** The slot of the render. It is released before slots for the pieces are asked for. */
  slot: Slot;
  runWhole(slot: Slot): Promise<RenderOutput>;
};

type PiecePlan = Extract<SplitPlan, { strategy: "chunked" }>;

/** Share of the progress that is encoding. Joining is the rest. */
const ENCODING_SHARE = 0.95;
/** Maximum number of repetitions of planning and joining after the loss of their place. */
const MAX_LOSSES = 3;
/** Raw video takes no more, and the tables of a file. */
const MAX_BYTES_PER_PIXEL = 2;
const MAX_TABLE_BYTES = 16 * 1024 ** 2;
const MAX_AUDIO_BYTES_PER_SECOND = 200_000;
/** Seconds of audio that are encoded in about a second. */
const AUDIO_SPEED = 60;
const TICK_MS = 1_000;

/**
 * Renders to `outputDir`. Runs whole when the render is short, when its packets can be copied, with fewer than two
 * places whose chunks fit together, and when chunks do not fit or a hardware encoder fails. The progress decreases when
 * it starts again at one place. Errors: those of `encodePieces` and of the joining run; the signal's reason when
 * aborted.
 */
export async function runSplitRender(options: SplitRenderOptions): Promise<RenderOutput> {
  const { input, workDir, log } = options;
  const group = isSplittable(input) ? findLargestGroup(options.executions.listPlaces()) : [];
  const [first] = group;
  if (first === undefined || group.length < 2) return options.runWhole(options.slot);
  options.slot.release();
  const listPlaces = () =>
    options.executions.listPlaces().filter(({ encoding }) => isSameEncoding(encoding, first.encoding));
  const split = { ...options, executions: { ...options.executions, listPlaces } };
  await removeIncoming(workDir);
  const plan = await planPieces(split, first.encoding.encoder);
  const runWhole = async () => {
    const slot = await acquireSlot(options);
    try {
      return await options.runWhole(slot);
    } finally {
      slot.release();
    }
  };
  if (plan.strategy === "whole") return runWhole();
  await writeChunkSizes(workDir, plan.sizes);
  const pieces = createPieces(plan, input);
  log("render.split", { chunks: plan.tasks.length, frames: plan.frameCount, places: group.length });
  let step = "encoding";
  try {
    const { repaired } = await encodeAll(split, plan, pieces);
    step = "joining";
    const output = await joinPieces(split, pieces);
    return repaired ? { ...output, warnings: [...output.warnings, REPAIRED_WARNING] } : output;
  } catch (error) {
    // The next attempt would join the same chunks.
    const isWrongFile = step === "joining" && error instanceof InvalidResultError;
    if (!isProcessingFailure(error) && !isWrongFile) throw error;
    log("render.fell_back", { from: "split", to: "whole", step, reason: error.message });
    // A chunk that failed everywhere fails there too, unless another encoder can do it. Chunks that do not fit are of
    // no use.
    if (step === "joining") for (const { name } of pieces) await rm(join(workDir, name), { force: true });
    return runWhole();
  }
}

const removeIncoming = (workDir: string) => rm(join(workDir, INCOMING_FOLDER), { recursive: true, force: true });

const isProcessingFailure = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === "processing_failed" && error.details.isPermanent !== true;

/** Returns whether the render may be split, as far as known before it is planned. */
const isSplittable = ({ output, duration }: RenderInput): boolean =>
  output.video !== null && !output.matchesSource && duration / TICKS_PER_SECOND >= MIN_SPLIT_SECONDS;

/** Returns the group of places with compatible chunks that has the most slots. */
function findLargestGroup(places: readonly SplitPlace[]): SplitPlace[] {
  const groups = places.map(({ encoding }) => places.filter((other) => isSameEncoding(other.encoding, encoding)));
  const countSlots = (group: SplitPlace[]) => group.reduce((sum, { slots }) => sum + slots, 0);
  return groups.toSorted((a, b) => countSlots(b) - countSlots(a))[0] ?? [];
}

async function planPieces(split: SplitRenderOptions, encoder: string): Promise<SplitPlan> {
  const { input, workDir, signal } = split;
  const places = split.executions.listPlaces().map(({ slots, pixelsPerSecond }) => ({ slots, pixelsPerSecond }));
  const planInput: SplitInput = { ...input, places, sizes: await readChunkSizes(workDir, null) };
  const folder = join(workDir, INCOMING_FOLDER, "split");
  const call = {
    kind: "split" as const,
    input: planInput,
    workFiles: [],
    outputDir: folder,
    workDir: folder,
    outputs: [],
  };
  const { plan } = await runOnce<SplitOutput>(split, { ...call, signal, onProgress: () => {} });
  return parseSplitPlan(plan, input.output, encoder);
}

/** Runs an execution at a place that `accepts` is true for, again when the place is lost. */
async function runOnce<Output extends RenderOutput | SplitOutput>(
  split: SplitRenderOptions,
  call: PieceCall,
  accepts?: (place: SplitPlace) => boolean,
): Promise<Output> {
  for (let losses = 1; ; losses++) {
    const slot = await acquireSlot(split, accepts);
    try {
      return await split.executions.run<Output>(slot.placeId, call);
    } catch (error) {
      if (!(error instanceof ExecutionLost) || losses >= MAX_LOSSES) throw error;
      split.log(`${call.kind}.lost`, { place: slot.placeId });
    } finally {
      slot.release();
    }
  }
}

/** Throws `JobYielded` when all places are gone: another attempt plans for the places available then. */
async function acquireSlot(
  { executions, signal, tickMs = TICK_MS, clock = () => performance.now() }: SplitRenderOptions,
  accepts: (place: SplitPlace) => boolean = () => true,
): Promise<Slot> {
  const granted = Promise.withResolvers<Slot>();
  let isOpen = true;
  const isWanted = (id: string) => isOpen && executions.listPlaces().some((place) => place.id === id && accepts(place));
  const request = executions.request(isWanted, (slot) => {
    if (!isOpen) return slot.release();
    isOpen = false;
    granted.resolve(slot);
  });
  try {
    for (let seenAt = clock(); ; request.wake()) {
      const slot = await Promise.race([granted.promise, sleep(tickMs, signal)]);
      if (slot) return slot;
      if (executions.listPlaces().length > 0) seenAt = clock();
      else if (clock() - seenAt > MAX_IDLE_MS) throw new JobYielded();
    }
  } catch (error) {
    // One that was granted at the same time.
    void granted.promise.then((slot) => slot.release());
    throw error;
  } finally {
    isOpen = false;
    request.close();
  }
}

function createPieces({ settings, tasks, audio, seconds }: PiecePlan, { plan, output }: RenderInput): Piece[] {
  const { width, height } = settings;
  const fallbackSpeed = FALLBACK_PIXELS_PER_SECOND / (width * height);
  const pieces = tasks.map((chunk): Piece => {
    const { frameCount } = chunk.task;
    return {
      name: chunk.name,
      frames: frameCount,
      piece: { kind: "video", settings, chunk },
      expected: { kind: "video", name: chunk.name, frameCount, width, height, frameRate: chunk.task.timing.rate },
      maxBytes: frameCount * width * height * MAX_BYTES_PER_PIXEL + MAX_TABLE_BYTES,
    };
  });
  if (audio === null) return pieces;
  const track: Piece = {
    name: audio,
    frames: Math.ceil((seconds / AUDIO_SPEED) * fallbackSpeed),
    piece: { kind: "audio", name: audio, plan, output },
    expected: { kind: "audio", seconds },
    maxBytes: Math.ceil(seconds * MAX_AUDIO_BYTES_PER_SECOND) + MAX_TABLE_BYTES,
  };
  return [...pieces, track];
}

async function encodeAll(split: SplitRenderOptions, { settings }: PiecePlan, pieces: Piece[]) {
  const pixels = settings.width * settings.height;
  const done = await listFinished(split.workDir, pieces);
  if (done.size > 0) split.log("render.resumed", { reused_chunks: done.size });
  return await encodePieces({
    ...split,
    pieces,
    done,
    pixels,
    fallbackSpeed: FALLBACK_PIXELS_PER_SECOND / pixels,
    progress: (share) => split.progress(share * ENCODING_SHARE),
  }).finally(() => removeIncoming(split.workDir));
}

/** Returns the names of the pieces whose files exist. */
async function listFinished(workDir: string, pieces: readonly Piece[]): Promise<Set<string>> {
  const found = await Promise.all(
    pieces.map(async ({ name }) => {
      const file = await lstat(join(workDir, name)).catch(() => null);
      return file?.isFile() === true ? name : null;
    }),
  );
  return new Set(found.filter((name) => name !== null));
}

/** Joins at this machine, which has all files, or else at the place with the most room. */
async function joinPieces(split: SplitRenderOptions, pieces: readonly Piece[]): Promise<RenderOutput> {
  const { input, workDir, outputDir, signal, executions } = split;
  const workFiles = [CHUNK_SIZES_FILE, ...pieces.map(({ name }) => name)];
  const sizes = await Promise.all(workFiles.map(async (name) => (await lstat(join(workDir, name))).size));
  const maxBytes = 2 * sizes.reduce((sum, size) => sum + size, 0) + MAX_TABLE_BYTES;
  const call: PieceCall = {
    kind: "join",
    input,
    workFiles,
    outputDir,
    workDir,
    outputs: [{ name: getRenderOutputName(input.output.format), maxBytes }],
    signal,
    onProgress: (share) => split.progress(ENCODING_SHARE + share * (1 - ENCODING_SHARE)),
  };
  const isHere = (place: SplitPlace) => place.isLocal || executions.listPlaces().every(({ isLocal }) => !isLocal);
  const output = await runOnce<RenderOutput>(split, call, isHere);
  split.progress(1);
  return output;
}

const MAX_TASKS = 20_000;
/** Maximum number of segments of a chunk. Planning creates at most 16. */
const MAX_SEGMENTS = 64;
const MAX_FRAMES = 100_000_000;

const frames = (minimum: number) => Type.Integer({ minimum, maximum: MAX_FRAMES });
const time = Type.Number({ minimum: 0 });
const rate = strictObject({ num: frames(1), den: frames(1) });
const bitrate = Type.Number({ minimum: 1 });

const segment = strictObject({ from: frames(0), to: frames(0), sourceStart: Type.Number(), outputStart: time });
const task = strictObject({
  chunk: strictObject({
    segments: Type.Array(segment, { minItems: 1, maxItems: MAX_SEGMENTS }),
    outputStart: time,
    outputEnd: time,
    frameCount: frames(1),
  }),
  timing: Type.Union([
    strictObject({ kind: Type.Literal("sequential"), rate }),
    strictObject({ kind: Type.Literal("resampled"), rate, phase: Type.Number() }),
  ]),
  frameCount: frames(1),
});

const splitPlan = Type.Union([
  Type.Object({ strategy: Type.Literal("whole") }),
  strictObject({
    strategy: Type.Literal("chunked"),
    settings: strictObject({
      width: frames(1),
      height: frames(1),
      encoder: Type.String(),
      frameRate: rate,
      quality: Type.Union([
        strictObject({ bitrate }),
        strictObject({ maxBitrate: Type.Union([bitrate, Type.Null()]) }),
      ]),
      disableBFrames: Type.Boolean(),
    }),
    tasks: Type.Array(strictObject({ name: Type.String({ pattern: CHUNK_NAME.source }), task }), {
      minItems: 1,
      maxItems: MAX_TASKS,
    }),
    sizes: Type.Unknown(),
    frameCount: frames(1),
    audio: Type.Union([Type.String({ pattern: AUDIO_NAME.source }), Type.Null()]),
    seconds: time,
  }),
]);

/**
 * Returns the plan if it is one of this output and of the encoder that the head knows. A worker may have sent it, so
 * that only numbers and names of the expected form are taken from it. Throws a plain `Error`.
 */
function parseSplitPlan(plan: unknown, { video, audio }: ResolvedOutput, encoder: string): SplitPlan {
  if (!getChecker(splitPlan).Check(plan)) throw invalid();
  if (plan.strategy === "whole") return { strategy: "whole" };
  const { settings, tasks, frameCount } = plan;
  const sizes = parseChunkSizes(plan.sizes, null);
  const isOfOutput =
    settings.width === video?.width && settings.height === video.height && (plan.audio === null) === (audio === null);
  const isComplete = tasks.reduce((sum, { task: { frameCount: count } }) => sum + count, 0) === frameCount;
  const areNamesUnique = new Set(tasks.map(({ name }) => name)).size === tasks.length;
  if (!isOfOutput || settings.encoder !== encoder || sizes === null || !isComplete || !areNamesUnique) throw invalid();
  return { ...plan, settings: { ...settings, encoder: encoder as VideoEncoder }, sizes };
}

const invalid = () => new Error("The plan of the split render is not valid.");
