/** The state of an asset's preview, which the first opening of the asset starts. */
import { AppError, assetProcessing, retryLater } from "../../domain/errors";
import { type PreviewFacts, SOURCE_INDEX_VERSION, type SourceFacts, type Storyboard } from "../../domain/preview";
import { toSeconds } from "../../domain/time";
import type { Asset } from "../../store/assets";
import {
  estimateRemainingSeconds,
  findLatestStep,
  findPreviewStep,
  listOpenPreviews,
  type OpenPreview,
  type Step,
} from "../../store/steps";
import { isViewable } from "../cuts/new-cuts";
import type { PipelineNeeds } from "../pipelines/pipelines";
import { readPreviewFacts, readSourceFacts } from "./files";
import { startPreview } from "./start-preview";

/** `facts`: null until the preview is complete. `step`: its latest job. `errorMessage`: why that failed. */
type PreviewState = { facts: PreviewFacts | null; step: Step | null; errorMessage: string | null };

/** Minimum time between a failed attempt and the next one, which starts when somebody opens the asset. */
const RETRY_AFTER_MS = 10 * 60 * 1000;

const LOUDNESS_RETRY_SECONDS = 5;

const isOpen = (step: Step): boolean => step.finished_at === null;

/**
 * Returns the state of the preview, which is started if it neither exists nor is being created. Throws `AppError`
 * `upstream_unavailable` while a folder is offline.
 */
export async function openPreview(services: PipelineNeeds, asset: Asset, userId: string): Promise<PreviewState> {
  const { folders } = services;
  if (asset.kind !== "source" || asset.state !== "ready") return { facts: null, step: null, errorMessage: null };
  const facts = await folders.guard.readOnline(() => readPreviewFacts(folders.media(asset.id)));
  if (facts !== null) return { facts, step: null, errorMessage: null };
  return { facts, ...(await findOrStartStep(services, asset, userId)) };
}

async function findOrStartStep(
  services: PipelineNeeds,
  asset: Asset,
  userId: string,
): Promise<Omit<PreviewState, "facts">> {
  const { store, runner } = services;
  const last = await findPreviewStep(store.read, asset.id);
  const now = services.now();
  if (services.config.previews === "never") return { step: null, errorMessage: null };
  if (last && isOpen(last)) return { step: last, errorMessage: null };
  if (last?.state === "failed" && now - (last.finished_at ?? 0) < RETRY_AFTER_MS)
    return { step: last, errorMessage: last.error_message };
  await store.write((tx) => startPreview(services, tx, asset.id, { userId, now }));
  runner.wake();
  return { step: await findPreviewStep(store.read, asset.id), errorMessage: null };
}

/** `absentReason`: why the loudness of an asset will not be known; null if it is, or is being measured. */
type LoudnessState = { isReady: boolean; absentReason: string | null };

/**
 * Returns whether the loudness is measured. The preparation does it before it transcribes; for a recording that an
 * older version prepared, the job of the preview does, which is started. Throws `AppError` `upstream_unavailable` while
 * a folder is offline.
 */
export async function openLoudness(services: PipelineNeeds, asset: Asset, userId: string): Promise<LoudnessState> {
  const { folders, config } = services;
  const absent = (absentReason: string | null) => ({ isReady: false, absentReason });
  if (asset.info?.audio.length === 0) return absent("Asset has no audio.");
  if (isViewable(asset) && (await folders.guard.readOnline(() => Bun.file(folders.media(asset.id).loudness).exists())))
    return { isReady: true, absentReason: null };
  if (asset.kind !== "source" || asset.state !== "ready") return absent(null);
  if (config.previews === "never")
    return absent("An older version prepared the recording without measuring its loudness, and previews are off.");
  const { errorMessage } = await findOrStartStep(services, asset, userId);
  return absent(errorMessage === null ? null : `Loudness could not be measured: ${errorMessage}`);
}

/**
 * Returns the file with the loudness of a recording. Throws `AppError` `not_found` when it will not be known,
 * `asset_processing`, and as `openLoudness`.
 */
export async function requireLoudness(services: PipelineNeeds, asset: Asset, userId: string): Promise<string> {
  const { isReady, absentReason } = await openLoudness(services, asset, userId);
  if (isReady) return services.folders.media(asset.id).loudness;
  if (absentReason !== null) throw new AppError("not_found", absentReason);
  throw retryLater("asset_processing", "Loudness is still being measured.", LOUDNESS_RETRY_SECONDS);
}

/**
 * Returns the files from which pieces of the asset are made. Its preview is started if necessary, but not waited for.
 * Throws `AppError` as `requirePreview`, but not while only the preview is missing.
 */
export async function requirePlayable(
  services: PipelineNeeds,
  asset: Asset,
  userId: string,
): Promise<{ facts: PreviewFacts | null; source: SourceFacts }> {
  if (!isViewable(asset)) await requirePreview(services, asset, userId);
  const { facts } = await openPreview(services, asset, userId);
  return { facts, source: await openSourceFacts(services, asset) };
}

/**
 * Returns the tracks of the source that browsers may play. Throws `AppError` `upstream_unavailable` while a folder is
 * offline.
 */
export const openSourceFacts = async ({ folders }: PipelineNeeds, asset: Asset): Promise<SourceFacts> =>
  (await folders.guard.readOnline(() => readSourceFacts(folders.media(asset.id)))) ?? {
    version: SOURCE_INDEX_VERSION,
    video: null,
    audio: null,
    storyboard: null,
  };

/**
 * Returns the storyboard of a prepared recording: that of the source, otherwise that of the preview. Throws `AppError`
 * `not_found` without video, and as `requirePreview` if only the preview has one.
 */
export async function requireStoryboard(services: PipelineNeeds, asset: Asset, userId: string): Promise<Storyboard> {
  const source = asset.kind === "source" ? await openSourceFacts(services, asset) : null;
  if (source?.storyboard && isViewable(asset)) return source.storyboard;
  const { storyboard } = await requirePreview(services, asset, userId);
  if (storyboard === null) throw new AppError("not_found", "Asset has no storyboard.");
  return storyboard;
}

/** Maximum counted position of a preview in the queue. */
const MAX_COUNTED = 1_000;
/** Seconds of a recording that are encoded in a second, on the two cores of a small server that has no other work. */
const IDLE_SPEED = 10;
/** Lowest speed to expect: a job without progress may have reached a slow part, or not report any. */
const MIN_SPEED = 0.5;
/** Seconds at the speed of an idle server that count as measured before a preview starts. */
const ASSUMED_SECONDS = 60;

/** The place of a preview in the queue, 1 for the next one, and the seconds until it is complete. */
type PreviewWait = { position: number; seconds: number };

/** Returns how long the preview takes; null unless it is being created. */
export const findPreviewWait = async ({ store, now }: PipelineNeeds, { step }: PreviewState) =>
  step === null || !isOpen(step)
    ? null
    : estimatePreviewWait(step.id, await listOpenPreviews(store.read, MAX_COUNTED), now());

/**
 * Estimates how long a preview takes, from the recordings before it in the queue and the speed of the one that is being
 * created: other work comes first, so that it may be much slower than on an idle server.
 */
export function estimatePreviewWait(stepId: string, previews: readonly OpenPreview[], now: number): PreviewWait {
  const index = previews.findIndex((preview) => preview.stepId === stepId);
  const waited = index < 0 ? previews : previews.slice(0, index + 1);
  const recordingSeconds = waited.reduce(
    (sum, { duration, progress }) => sum + toSeconds(duration ?? 0) * (1 - (progress ?? 0)),
    0,
  );
  const running = previews.find(({ claimedAt }) => claimedAt !== null);
  const speed = running ? measureSpeed(running, now) : IDLE_SPEED;
  return { position: waited.length, seconds: Math.ceil(recordingSeconds / speed) };
}

/**
 * Returns how many seconds of the recording are encoded in a second, from `MIN_SPEED` to `IDLE_SPEED`. Progress is
 * coarse, and that of earlier starts counts too, so the first minutes change the assumed speed only gradually.
 */
function measureSpeed({ duration, progress, claimedAt }: OpenPreview, now: number): number {
  const encodedSeconds = toSeconds(duration ?? 0) * (progress ?? 0);
  const seconds = Math.max(0, now - (claimedAt ?? now)) / 1000;
  const speed = (encodedSeconds + IDLE_SPEED * ASSUMED_SECONDS) / (seconds + ASSUMED_SECONDS);
  return Math.min(IDLE_SPEED, Math.max(MIN_SPEED, speed));
}

/** Returns the completed fraction of the preview, 0 to 1; null unless it is being created. */
export const findPreviewProgress = ({ step }: PreviewState): number | null =>
  step && isOpen(step) ? (step.progress ?? 0) : null;

/**
 * Returns the facts of the complete preview. Throws `AppError` `not_found` (an asset that will have none),
 * `asset_processing`, `asset_payment_required`, `asset_failed`, those of `openPreview`.
 */
export async function requirePreview(services: PipelineNeeds, asset: Asset, userId: string): Promise<PreviewFacts> {
  if (asset.kind !== "source") throw new AppError("not_found", `Asset is a ${asset.kind}, which has no preview.`);
  if (asset.state === "failed") throw new AppError("asset_failed", "Asset preparation failed. Upload the file again.");
  if (asset.state === "pending_payment")
    throw new AppError("asset_payment_required", "Asset is prepared but not paid for. Add credits.");
  const state = await openPreview(services, asset, userId);
  if (state.facts !== null) return state.facts;
  if (state.errorMessage !== null)
    throw new AppError(
      "asset_failed",
      `Preview could not be created: ${state.errorMessage} Open the asset again later.`,
    );
  if (asset.state === "ready" && services.config.previews === "never")
    throw new AppError("not_found", "Asset has no preview: previews are off.");
  if (asset.state === "ready")
    throw assetProcessing("Preview is still being created.", (await findPreviewWait(services, state))?.seconds ?? null);
  const step = await findLatestStep(services.store.read, asset.id);
  throw assetProcessing("Asset is still being prepared.", estimateRemainingSeconds(step, services.now()));
}
