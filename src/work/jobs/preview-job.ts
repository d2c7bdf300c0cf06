/** The job `preview`: rows in, rows out. A failure leaves the asset as it is. */
import { discard } from "../../blobs/trash";
import { findAssetById, updateAsset } from "../../store/assets";
import { discardFolderOfDeleted } from "../assets/discard-derivatives";
import { getAnalysisAudioPath } from "../assets/prepared-files";
import { findBlob, getBlob } from "./blob-files";
import type { JobDefinition } from "./definition";
import { type PreviewInput, type PreviewOutput, runPreview } from "./preview-run";

export const previewJob: JobDefinition<PreviewInput, never, PreviewOutput> = {
  whenDiskIsFull: "postpone",
  begin: async (tx, { job }) => (await findAssetById(tx, job.subjectId))?.state === "ready",
  load: async ({ store, folders }, job) => {
    const asset = await findAssetById(store.read, job.subjectId);
    if (!asset?.info) return null;
    const folder = folders.media(asset.id);
    const input: PreviewInput = {
      blobs: { source: await getBlob(folder.source), audio: await findBlob(await getAnalysisAudioPath(folder)) },
      info: asset.info,
    };
    return { input, inputDir: folder.dir, outputDir: folder.dir };
  },
  run: runPreview,
  settle: async (tx, { blobs }, { job }) => {
    const bytes = blobs.reduce((sum, blob) => sum + blob.bytes, 0);
    await updateAsset(tx, job.subjectId, { has_preview: true, derived_bytes: bytes });
  },
  fail: async () => {},
  cleanup: async (services, { subjectId }, end) => {
    await discard(services.folders, [services.folders.previewWork(subjectId)]);
    if (end === "cancelled") await discardFolderOfDeleted(services, subjectId);
  },
};
