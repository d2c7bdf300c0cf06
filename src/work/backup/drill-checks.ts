/** Checks of a drill in the server that runs on a restored backup: its files, its balances, and one render. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type BackupManifest, isEssential } from "../../domain/backup";
import { findBalanceProblems, findFrameProblem, selectRender } from "../../domain/drill";
import { hashFrames } from "../../media/frame-hashes";
import { listBalances, readBalance } from "../../store/credits";
import { listCompletedRenders, listStoredFiles } from "../../store/file-owners";
import type { MediaTools } from "../jobs/media-tools";
import { loadRender } from "../jobs/render-job";
import { describeMaker, runRender } from "../jobs/render-run";
import type { CoreNeeds } from "../needs";
import { verifyFiles } from "./verify-files";

/** `folders`: the restored data folder's. */
export type DrillTarget = CoreNeeds & { manifest: BackupManifest };

/** The result of a check. Each problem is a sentence. */
type DrillCheck<Figures> = Figures & { problems: string[] };

/**
 * Checks each file of the backup that was restored, and for each recording and render that its file is among them.
 * Sizes are always compared; contents in random order until `maxMs` have passed, so that the next drills read the
 * others. Errors: the signal's reason.
 */
export async function checkFiles(
  { store, folders, manifest }: DrillTarget,
  { isRestored, maxMs, signal }: { isRestored(path: string): boolean; maxMs: number; signal: AbortSignal },
): Promise<DrillCheck<{ files: number; checked_files: number; damaged: string[] }>> {
  const problems: string[] = [];
  const files = manifest.files.filter(({ path }) => isRestored(path));
  const sizes = new Map(files.map(({ path, bytes }) => [path, bytes]));
  for (const { path, bytes } of await listStoredFiles(store.read)) {
    const found = sizes.get(path);
    if (found === undefined) problems.push(`${path} is not in the backup.`);
    else if (found !== bytes) problems.push(`${path} has ${found} bytes, but its row says ${bytes}.`);
  }
  const deadline = performance.now() + maxMs;
  let checked = files.length;
  const isRead = () => {
    const isInTime = performance.now() < deadline;
    if (!isInTime) checked--;
    return isInTime;
  };
  // The restored server writes to its database and its secrets. They were compared when they were restored.
  const unchanged = files.filter(({ path }) => !isEssential(path));
  const shuffled = unchanged.map((file) => ({ file, order: Math.random() })).sort((a, b) => a.order - b.order);
  const damaged = await verifyFiles(
    folders.resolve,
    shuffled.map(({ file }) => file),
    { isRead, hasDatabase: false, signal },
  );
  problems.push(...damaged.map(({ path, problem }) => `${path} ${problem}.`));
  return { problems, files: files.length, checked_files: checked, damaged: damaged.map(({ path }) => path) };
}

/**
 * Checks that each workspace has the same balance in the restored ledger. A manifest of an older version has no
 * balances.
 */
export async function checkBalances({ store, manifest: { balances } }: DrillTarget) {
  if (balances === undefined) return { problems: [], balances: 0 };
  const problems = findBalanceProblems(balances, await listBalances(store.read));
  for (const { workspace_id, credits, held } of problems.length > 0 ? [] : balances) {
    const shown = await readBalance(store.read, workspace_id);
    if (shown !== credits - held)
      problems.push(`Workspace ${workspace_id} can spend ${shown} credits, expected ${credits - held}.`);
  }
  return { problems, balances: balances.length };
}

/**
 * Renders an old cut again with the job's own code, and compares the hashes of its frames with those of the stored
 * render; only their number when the stored one was made with another ffmpeg or encoder. `render_frames`: null if no
 * render is short enough. Errors: the signal's reason.
 */
export async function checkRender(
  target: DrillTarget,
  tools: MediaTools,
  { maxSeconds, signal }: { maxSeconds: number; signal: AbortSignal },
): Promise<DrillCheck<{ render_frames: number | null }>> {
  const { store, folders } = target;
  // The checks of `doctor` report that no encoder works.
  const madeWith = await describeMaker(tools).catch(() => "");
  const chosen = selectRender(await listCompletedRenders(store.read, MAX_CANDIDATES), madeWith);
  if (chosen === null) return { problems: [], render_frames: null };
  const loaded = await loadRender(target, chosen.id);
  if (loaded === null) return { problems: [`Render ${chosen.id} has no plan.`], render_frames: null };
  const { input } = loaded;
  const work = join(folders.workRoot, "drill");
  const outputDir = join(work, "output");
  await mkdir(outputDir, { recursive: true });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(maxSeconds * 1000)]);
  try {
    const { blobs } = await runRender(tools, input, {
      signal: limit,
      shouldYield: () => false,
      progress: () => {},
      log: () => {},
      owner: "",
      getInputPath: (name) => join(loaded.inputDir, name),
      outputDir,
      workDir: join(work, "render"),
      checkpoint: async () => {},
    });
    const { name } = blobs[0]!;
    const hash = (path: string) =>
      hashFrames({ ...tools, path, output: input.output, workDir: work, maxSeconds, signal: limit });
    const stored = await hash(join(loaded.outputDir, name));
    const rendered = await hash(join(outputDir, name));
    // Another ffmpeg or encoder may produce different frames without a fault, but not another number of them.
    const isComparable = chosen.madeWith === null || chosen.madeWith === madeWith;
    const toComparable = (hashes: readonly string[]) => (isComparable ? hashes : hashes.map(() => ""));
    const compare = (unit: string, was: readonly string[], is: readonly string[]) =>
      findFrameProblem(unit, toComparable(was), toComparable(is));
    const problem =
      (input.output.video && compare("Frame", stored.video, rendered.video)) ??
      (input.output.audio && compare("Audio packet", stored.audio, rendered.audio));
    return {
      problems: problem === null ? [] : [`Render ${chosen.id} was rendered again: ${problem}`],
      render_frames: input.output.video ? rendered.video.length : rendered.audio.length,
    };
  } catch (error) {
    signal.throwIfAborted();
    const reason = limit.aborted ? `It took longer than ${maxSeconds} s.` : (error as Error).message;
    return { problems: [`Render ${chosen.id} could not be rendered again: ${reason}`], render_frames: null };
  }
}

const MAX_CANDIDATES = 1_000;
