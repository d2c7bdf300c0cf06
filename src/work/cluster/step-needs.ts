/** The requirements of a step for a place: the job, the language of the recording, and disk space for its files. */
import type { JobName } from "../../domain/jobs";
import { type PlaceNeeds, WORKER_JOBS, type WorkerJob } from "../../domain/workers";
import { getModelsFolder, listLanguages, toLanguageCode } from "../../speech/models/installed-models";
import { type Asset, findAssetById } from "../../store/assets";
import { findCutById } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { findRenderById } from "../../store/renders";
import type { CoreNeeds } from "../needs";

/** Room for the files that a job makes besides the rendered one, and for its temporary files. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;
/** A render reads its source and writes it twice, in chunks and as a whole; a preparation writes less than a copy. */
const SOURCE_COPIES: Record<WorkerJob, number> = { prepare: 2, cut: 0, render: 3 };

/** The requirements of a step, and its recording. */
export type StepNeeds = PlaceNeeds & { assetId: string };

/** Returns whether workers can have such jobs. */
export const isWorkerJob = (name: JobName): name is WorkerJob => WORKER_JOBS.some((job) => job === name);

/** Returns what a step needs of its place; null when its subject was deleted. An unknown language may be any that this server transcribes. */
export async function readStepNeeds(
  { store, folders }: CoreNeeds,
  step: { name: WorkerJob; subjectId: string },
): Promise<StepNeeds | null> {
  const asset = await findAsset(store.read, step);
  if (!asset) return null;
  const { name: job } = step;
  const spoken =
    asset.language === null ? listLanguages(getModelsFolder(folders.root)) : [toLanguageCode(asset.language)];
  return {
    job,
    assetId: asset.id,
    languages: job === "render" ? [] : spoken,
    bytes: MIN_FREE_BYTES + SOURCE_COPIES[job] * asset.upload_length,
    encoding: null,
  };
}

async function findAsset(
  db: Queries,
  { name, subjectId }: { name: WorkerJob; subjectId: string },
): Promise<Asset | null> {
  if (name === "prepare") return findAssetById(db, subjectId);
  const subject = name === "cut" ? await findCutById(db, subjectId) : await findRenderById(db, subjectId);
  return subject && findAssetById(db, subject.asset_id);
}
