/** The job `prepare`: rows in, rows out. */
import { discard } from "../../blobs/trash";
import type { MediaInfo, SniffedMedia } from "../../domain/media";
import type { AssetKind } from "../../domain/states";
import { fromSeconds } from "../../domain/time";
import { findAssetById, updateAsset, updateAssetInState } from "../../store/assets";
import type { Queries } from "../../store/db";
import { deletePlannedCut } from "../../store/planned-cuts";
import { discardDerivatives, discardFolderOfDeleted } from "../assets/discard-derivatives";
import { completePreparation, computeCharge, holdCharge, releaseCharge } from "../billing/charge";
import { readPrices } from "../billing/prices";
import { startPreview } from "../previews/start-preview";
import { indexTranscript, readPassages } from "../search/index-transcripts";
import { readEntries } from "../vocabulary/vocabulary";
import { emitAssetEvent } from "../webhooks/events";
import { getBlob } from "./blob-files";
import type { JobDefinition, SettleContext } from "./definition";
import { type PrepareCheckpoint, type PrepareInput, type PrepareOutput, runPrepare } from "./prepare-run";

/** Any number but 0 marks derivatives that are on disk. */
const UNKNOWN_BYTES = 1;

/** Only sources are transcribed and get a preview. */
const SCOPES: Record<AssetKind, PrepareInput["scope"]> = { source: "all", rendered_video: "images", cut_file: "plan" };

/** The result of probing a media file. */
const CUT_FILE_TYPE = { extension: "json", content_type: "application/json" };

export const prepareJob: JobDefinition<PrepareInput, PrepareCheckpoint, PrepareOutput> = {
  whenDiskIsFull: "postpone",
  begin: async (tx, { job }) => (await findAssetById(tx, job.subjectId))?.state === "processing",
  load: async ({ store, folders, config }, job) => {
    const asset = await findAssetById(store.read, job.subjectId);
    if (!asset) return null;
    const folder = folders.media(asset.id);
    const input: PrepareInput = {
      blobs: { source: await getBlob(folder.source) },
      language: asset.language,
      limits: {
        maxDurationSeconds: config.maxDurationSeconds,
        maxSidePixels: config.maxSidePixels,
        maxStreams: config.maxStreams,
      },
      vocabulary: await readEntries(store.read, asset.workspace_id, asset.project_id),
      scope: SCOPES[asset.kind],
    };
    return { input, inputDir: folder.dir, outputDir: folder.dir };
  },
  run: runPrepare,
  checkpoint: async (tx, found, context) => {
    const assetId = context.job.subjectId;
    switch (found.kind) {
      case "probed":
        return settleProbe(tx, found, context);
      case "audio": {
        await updateAsset(tx, assetId, {
          audio_prepared: true,
          has_waveform: found.hasWaveform,
          has_transcript: found.hasTranscript,
          language_detected: found.language,
        });
        return;
      }
      case "video": {
        await updateAsset(tx, assetId, { video_prepared: true, has_poster: found.hasPoster });
      }
    }
  },
  readForCheckpoint: async ({ folders, partialTranscripts }, found, { subjectId }) => {
    if (found.kind === "words") return async () => partialTranscripts.add(subjectId, found.from, found.words);
    if (found.kind !== "audio" || !found.hasTranscript) return async () => {};
    const passages = await readPassages(folders.media(subjectId));
    return (tx) => indexTranscript(tx, subjectId, passages);
  },
  settle: async (tx, { blobs, keptSeconds = 0 }, { job, now, config }) => {
    await updateAsset(tx, job.subjectId, { derived_bytes: blobs.reduce((sum, { bytes }) => sum + bytes, 0) });
    const asset = await findAssetById(tx, job.subjectId);
    if (asset?.state !== "processing") return;
    if (asset.kind === "cut_file")
      await updateAsset(tx, asset.id, { ...CUT_FILE_TYPE, duration: fromSeconds(keptSeconds) });
    await completePreparation(tx, asset, now);
    if (config.previews === "after_preparation") await startPreview({ config }, tx, asset.id, { userId: null, now });
  },
  fail: async (tx, { code, message }, { job, now }) => {
    const asset = await updateAssetInState(tx, job.subjectId, "processing", {
      state: "failed",
      error_code: code,
      error_message: message,
      duration: null,
      payment: "none",
      // `cleanup` removes the files and sets 0. After a crash before that, the next start finds the asset by this.
      derived_bytes: UNKNOWN_BYTES,
    });
    if (!asset) return;
    await deletePlannedCut(tx, asset.id);
    await releaseCharge(tx, asset, now);
    await emitAssetEvent(tx, asset, "asset.failed", now, "processing");
  },
  cleanup: async (services, { subjectId }, end) => {
    services.partialTranscripts.remove(subjectId);
    await discard(services.folders, [services.folders.work(subjectId)]);
    if (end === "failed") await discardDerivatives(services, subjectId);
    if (end === "cancelled") await discardFolderOfDeleted(services, subjectId);
  },
};

async function settleProbe(
  tx: Queries,
  { info, sniffed }: { info: MediaInfo; sniffed: SniffedMedia },
  { job, now, config }: SettleContext,
): Promise<void> {
  const asset = await findAssetById(tx, job.subjectId);
  const { creditsPerMinute } = await readPrices(config, tx);
  const changed =
    asset &&
    (await updateAssetInState(tx, asset.id, "processing", {
      type: info.type,
      extension: sniffed.extension,
      content_type: getContentType(sniffed, info.type),
      demuxer: info.demuxer,
      duration: info.duration,
      info,
      // A held price stays the same if the settings change between two attempts.
      charge: asset.kind === "source" ? (asset.charge ?? computeCharge(info.duration, creditsPerMinute)) : null,
    }));
  if (changed) await holdCharge(tx, changed, now);
}

/** Returns the sniffed type, corrected by the streams: an MP4 without video is `audio/mp4`. */
const getContentType = (sniffed: SniffedMedia, type: "audio" | "video"): string =>
  sniffed.type === type ? sniffed.contentType : sniffed.contentType.replace(/^(audio|video)\//, `${type}/`);
