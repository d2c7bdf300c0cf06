/**
 * Runs one long render at several places: plans its chunks, has them encoded in parallel, checks what comes back, and
 * joins the files. Finished chunks are in the work folder of the render, where a later attempt finds them, also one at
 * a single place.
 */
import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../domain/errors";
import { ExecutionLost, JobYielded, type Slot } from "../../domain/jobs";
import { isSameEncoding } from "../../domain/places";
import { TICKS_PER_SECOND } from "../../domain/time";
import { MAX_IDLE_MS } from "../../media/chunks/schedule";
import { CHUNK_SIZES_FILE, readChunkSizes, writeChunkSizes } from "../../media/chunks/sizes-file";
import { FALLBACK_PIXELS_PER_SECOND, MIN_SPLIT_SECONDS, type SplitPlan } from "../../media/split-render";
import { REPAIRED_WARNING } from "../../media/warnings";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import type { SplitInput, SplitOutput } from "../jobs/split-run";
import { type EncodeOptions, encodePieces, INCOMING_FOLDER, type Piece } from "./encode-pieces";
import { InvalidResultError } from "./result-shapes";
import type { PieceCall, SplitExecutions, SplitPlace } from "./split-executions";
import { parseSplitPlan } from "./split-plan";

export type SplitRenderOptions = Pick<
  EncodeOptions,
  "checkChunk" | "signal" | "shouldYield" | "log" | "tickMs" | "clock"
> & {
  input: RenderInput;
  /** Of the render, on this machine. */
  workDir: string;
  outputDir: string;
  /** Of the finished file. */
  outputName: string;
  /** Receives the share that is done, 0 to 1. It decreases when the render starts again at one place. */
  progress(share: number): void;
  executions: SplitExecutions;
  /** The slot of the render. It is released before slots for the pieces are asked for. */
  slot: Slot;
  runWhole(slot: Slot): Promise<RenderOutput>;
};

type PiecePlan = Extract<SplitPlan, { strategy: "chunked" }>;

/** Share of the progress that is encoding. Joining is the rest. */
const ENCODING_SHARE = 0.95;
/** How often planning and joining are repeated when their place is lost. */
const MAX_LOSSES = 3;
/** Raw video takes no more, and the tables of a file. */
const MAX_BYTES_PER_PIXEL = 2;
const MAX_TABLE_BYTES = 16 * 1024 ** 2;
const MAX_AUDIO_BYTES_PER_SECOND = 200_000;
/** Encoding so many seconds of audio takes about a second. */
const AUDIO_SPEED = 60;
const TICK_MS = 1_000;

/**
 * Renders to `outputDir`. Runs whole when the render is short, when its packets can be copied, with fewer than two
 * places whose chunks fit together, and when chunks do not fit or a hardware encoder fails. Errors: those of
 * `encodePieces` and of the joining run; the signal's reason when aborted.
 */
export async function runSplitRender(options: SplitRenderOptions): Promise<RenderOutput> {
  const { input, workDir, log } = options;
  const group = isSplittable(input) ? findLargestGroup(options.executions.listPlaces()) : [];
  const [first] = group;
  if (first === undefined || group.length < 2) return options.runWhole(options.slot);
  options.slot.release();
  const isInGroup = (place: SplitPlace) => isSameEncoding(place.encoding, first.encoding);
  const listPlaces = () => options.executions.listPlaces().filter(isInGroup);
  const split = { ...options, listPlaces };
  await removeIncoming(workDir);
  const plan = await planPieces(split, first.encoding.encoder);
  const runWhole = async () => {
    const slot = await acquireSlot({ ...options, listPlaces: options.executions.listPlaces }, () => true);
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

/** Whether the render may be split, by what is known before it is planned. */
const isSplittable = ({ output, duration }: RenderInput): boolean =>
  output.video !== null && !output.matchesSource && duration / TICKS_PER_SECOND >= MIN_SPLIT_SECONDS;

/** Returns the places whose chunks fit together, of which there are the most slots. */
function findLargestGroup(places: readonly SplitPlace[]): SplitPlace[] {
  const groups: SplitPlace[][] = [];
  for (const place of places) {
    const group = groups.find(([one]) => isSameEncoding(one!.encoding, place.encoding));
    if (group === undefined) groups.push([place]);
    else group.push(place);
  }
  const countSlots = (group: SplitPlace[]) => group.reduce((sum, { slots }) => sum + slots, 0);
  return groups.toSorted((a, b) => countSlots(b) - countSlots(a))[0] ?? [];
}

type SplitContext = SplitRenderOptions & { listPlaces(): SplitPlace[] };

async function planPieces(split: SplitContext, encoder: string): Promise<SplitPlan> {
  const { input, workDir } = split;
  const places = split.listPlaces().map(({ slots, pixelsPerSecond }) => ({ slots, pixelsPerSecond }));
  const planInput: SplitInput = { ...input, places, sizes: await readChunkSizes(workDir, null) };
  const { plan } = await runOnce<SplitOutput>(split, () => true, {
    kind: "split",
    input: planInput,
    workFiles: [],
    outputDir: join(workDir, INCOMING_FOLDER, "split"),
    workDir: join(workDir, INCOMING_FOLDER, "split"),
    outputs: [],
    signal: split.signal,
    onProgress: () => {},
  });
  return parseSplitPlan(plan, input.output, encoder);
}

/** Runs an execution at a place of the group, again when the place is lost. */
async function runOnce<Output extends RenderOutput | SplitOutput>(
  split: SplitContext,
  accepts: (place: SplitPlace) => boolean,
  call: PieceCall,
): Promise<Output> {
  const { executions, log } = split;
  for (let losses = 1; ; losses++) {
    const slot = await acquireSlot(split, accepts);
    try {
      return await executions.run<Output>(slot.placeId, call);
    } catch (error) {
      if (!(error instanceof ExecutionLost) || losses >= MAX_LOSSES) throw error;
      log(`${call.kind}.lost`, { place: slot.placeId });
    } finally {
      slot.release();
    }
  }
}

/**
 * Throws `JobYielded` when all places of the group are gone: another attempt plans for the places that there are then.
 */
async function acquireSlot(
  {
    executions,
    listPlaces,
    signal,
    tickMs = TICK_MS,
    clock,
  }: Pick<SplitContext, "clock" | "executions" | "listPlaces" | "signal" | "tickMs">,
  accepts: (place: SplitPlace) => boolean,
): Promise<Slot> {
  const { promise, resolve, reject } = Promise.withResolvers<Slot>();
  let isOpen = true;
  const fail = (error: unknown) => {
    isOpen = false;
    reject(error);
  };
  const stop = () => fail(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  let seenAt = clock();
  const isAccepted = (id: string) => isOpen && listPlaces().some((place) => place.id === id && accepts(place));
  const request = executions.request(isAccepted, (slot) => {
    if (!isOpen) return slot.release();
    isOpen = false;
    resolve(slot);
  });
  const ticking = setInterval(() => {
    if (listPlaces().length > 0) seenAt = clock();
    else if (clock() - seenAt > MAX_IDLE_MS) fail(new JobYielded());
    request.wake();
  }, tickMs);
  try {
    return await promise;
  } finally {
    clearInterval(ticking);
    request.close();
    signal.removeEventListener("abort", stop);
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

async function encodeAll(split: SplitContext, { settings }: PiecePlan, pieces: Piece[]) {
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
async function joinPieces(split: SplitContext, pieces: readonly Piece[]): Promise<RenderOutput> {
  const { input, workDir, outputDir, outputName, signal } = split;
  const workFiles = [CHUNK_SIZES_FILE, ...pieces.map(({ name }) => name)];
  const sizes = await Promise.all(workFiles.map(async (name) => (await lstat(join(workDir, name))).size));
  const isHere = (place: SplitPlace) => place.isLocal || split.listPlaces().every(({ isLocal }) => !isLocal);
  const output = await runOnce<RenderOutput>(split, isHere, {
    kind: "join",
    input,
    workFiles,
    outputDir,
    workDir,
    outputs: [{ name: outputName, maxBytes: 2 * sizes.reduce((sum, size) => sum + size, 0) + MAX_TABLE_BYTES }],
    signal,
    onProgress: (share) => split.progress(ENCODING_SHARE + share * (1 - ENCODING_SHARE)),
  });
  split.progress(1);
  return output;
}
