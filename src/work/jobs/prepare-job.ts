/** The job `prepare`: rows in, rows out. */
import { moveToTrash } from "../../blobs/trash";
import type { MediaInfo, SniffedMedia } from "../../domain/media";
import { getAsset, updateAsset, updateAssetInState } from "../../store/assets";
import type { Queries } from "../../store/db";
import { completePreparation, computeCharge, holdCharge, releaseCharge } from "../charge";
import { emitAssetEvent } from "../events";
import { discardDerivatives } from "../prepared-size";
import { getBlob } from "./blob-files";
import type { JobDefinition, SettleContext } from "./definition";
import { type PrepareCheckpoint, type PrepareInput, type PrepareOutput, runPrepare } from "./prepare-run";

/** Any number but 0 marks derivatives that are on disk. */
const UNKNOWN_BYTES = 1;

export const prepareJob: JobDefinition<PrepareInput, PrepareCheckpoint, PrepareOutput> = {
  whenDiskIsFull: "postpone",
  begin: async (tx, { job }) => (await getAsset(tx, job.subjectId))?.state === "processing",
  load: async ({ store, folders, config }, job) => {
    const asset = await getAsset(store.read, job.subjectId);
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
      scope: "all",
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
        const { hasWaveform, hasTranscript } = found;
        const change = { audio_prepared: true, has_waveform: hasWaveform, has_transcript: hasTranscript };
        await updateAsset(tx, assetId, change);
        return;
      }
      case "video": {
        const { hasPoster, hasPreview } = found;
        await updateAsset(tx, assetId, { video_prepared: true, has_poster: hasPoster, has_preview: hasPreview });
      }
    }
  },
  settle: async (tx, { blobs }, { job, now }) => {
    await updateAsset(tx, job.subjectId, { derived_bytes: blobs.reduce((sum, { bytes }) => sum + bytes, 0) });
    const asset = await getAsset(tx, job.subjectId);
    if (asset?.state === "processing") await completePreparation(tx, asset, now);
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
    await releaseCharge(tx, asset, now);
    await emitAssetEvent(tx, asset, "asset.failed", now, "processing");
  },
  cleanup: async (services, { subjectId }, end) => {
    await moveToTrash(services.folders, [services.folders.work(subjectId)]);
    if (end === "failed") await discardDerivatives(services, subjectId);
  },
};

async function settleProbe(
  tx: Queries,
  { info, sniffed }: { info: MediaInfo; sniffed: SniffedMedia },
  { job, now, config }: SettleContext,
): Promise<void> {
  const asset = await getAsset(tx, job.subjectId);
  const changed =
    asset &&
    (await updateAssetInState(tx, asset.id, "processing", {
      type: info.type,
      extension: sniffed.extension,
      content_type: getContentType(sniffed, info.type),
      demuxer: info.demuxer,
      duration: info.duration,
      info,
      // A price that is held stays the same when the settings change between two attempts.
      charge: asset.charge ?? computeCharge(info.duration, config.creditsPerMinute),
    }));
  if (changed) await holdCharge(tx, changed, now);
}

/** Returns the sniffed type, corrected by the streams: an MP4 without video is `audio/mp4`. */
const getContentType = (sniffed: SniffedMedia, type: "audio" | "video"): string =>
  sniffed.type === type ? sniffed.contentType : sniffed.contentType.replace(/^(audio|video)\//, `${type}/`);
