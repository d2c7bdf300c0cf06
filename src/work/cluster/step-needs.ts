/** The requirements of a step for a place: the job, the language of the recording, and disk space for its files. */
import type { PlaceNeeds } from "../../domain/places";
import { JOB_NEEDS, type WorkerJob } from "../../domain/workers";
import { getModelsFolder, listLanguages, toLanguageCode } from "../../speech/models/installed-models";
import type { CoreNeeds } from "../needs";
import { REMOTE_JOBS } from "./remote-jobs";

/** Room for the files that a job makes besides the rendered one, and for its temporary files. */
const MIN_FREE_BYTES = 256 * 1024 * 1024;

/** Returns what a step needs of its place; null when its subject was deleted. An unknown language may be any that this server transcribes. */
export async function readStepNeeds(
  { store, folders }: CoreNeeds,
  job: WorkerJob,
  subjectId: string,
): Promise<PlaceNeeds | null> {
  const asset = await REMOTE_JOBS[job].findAsset(store.read, subjectId);
  if (!asset) return null;
  const { speech, sourceCopies } = JOB_NEEDS[job];
  const spoken = () =>
    asset.language === null ? listLanguages(getModelsFolder(folders.root)) : [toLanguageCode(asset.language)];
  return { job, languages: speech ? spoken() : [], bytes: MIN_FREE_BYTES + sourceCopies * asset.upload_length };
}
