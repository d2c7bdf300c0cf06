/** The job `cut`: rows in, rows out. */
import { AppError } from "../../domain/errors";
import { findAssetById } from "../../store/assets";
import { findCut, findCutById, updateOpenCut } from "../../store/cuts";
import { copyReview } from "../../store/reviews";
import { getAnalysisAudioPath, getAnalysisPaths } from "../assets/prepared-files";
import { toKeptCut } from "../cuts/kept-edits";
import { summarizeCut } from "../cuts/summaries";
import { indexCorrections, readCorrections } from "../search/index-corrections";
import { findQuotaProblem } from "../storage/limits";
import { readEntries } from "../vocabulary/vocabulary";
import { emitCutEvent } from "../webhooks/events";
import { findBlob, getBlob } from "./blob-files";
import { type CutInput, type CutOutput, runCut } from "./cut-run";
import type { JobDefinition } from "./definition";

export const cutJob: JobDefinition<CutInput, never, CutOutput> = {
  // A plan is text in the database; cuts wait only while most of the reserve is used up, see `requireDatabaseSpace`.
  whenDiskIsFull: "continue",
  begin: async (tx, { job, now, config }) => {
    // Many cuts may have been created below the quota, and each writes a plan.
    const problem = await findQuotaProblem({ config }, tx, job.workspaceId);
    if (problem) throw new AppError("storage_full", problem, { isPermanent: true });
    const cut = await findCutById(tx, job.subjectId);
    if (!cut) return false;
    return (await updateOpenCut(tx, cut.id, { state: "processing", started_at: cut.started_at ?? now })) !== null;
  },
  load: async ({ store, folders }, job) => {
    const cut = await findCutById(store.read, job.subjectId);
    const asset = cut && (await findAssetById(store.read, cut.asset_id));
    if (!cut || !asset) return null;
    const folder = folders.media(asset.id);
    const paths = await getAnalysisPaths(folder);
    const [probed, speechAnalysis, energy, audio] = await Promise.all([
      getBlob(paths.probed),
      findBlob(paths.speechAnalysis),
      findBlob(paths.energy),
      findBlob(await getAnalysisAudioPath(folder)),
    ]);
    const kept = cut.keep_edits_of === null ? null : await findCut(store.read, cut.workspace_id, cut.keep_edits_of);
    const input: CutInput = {
      ...(cut.keep_edits_of !== null && { keepEditsOf: kept && toKeptCut(kept) }),
      blobs: { probed, speechAnalysis, energy, audio },
      script: cut.script,
      options: cut.options,
      language: asset.language,
      vocabulary: await readEntries(store.read, asset.workspace_id, asset.project_id),
      duration: asset.duration ?? 0,
      explain: false,
    };
    return { input, inputDir: folder.dir, outputDir: folders.work(cut.id) };
  },
  run: runCut,
  readForSettle: async ({ store }, { plan, basis }, { subjectId }) => {
    const open = await findCutById(store.read, subjectId);
    const corrections = open && (await readCorrections(store.read, { ...open, plan, basis }, null));
    if (corrections === null) return async () => {};
    return async (tx) => {
      const cut = await findCutById(tx, subjectId);
      if (cut?.state === "completed") await indexCorrections(tx, cut, null, corrections);
    };
  },
  settle: async (tx, { plan, basis, items }, { job, now }) => {
    const found = { plan, basis, review_items: items };
    const cut = await updateOpenCut(tx, job.subjectId, { ...found, state: "completed", completed_at: now });
    if (!cut) return;
    // Items whose kind and span are the same have the same ID.
    if (cut.keep_edits_of !== null) await copyReview(tx, cut.keep_edits_of, cut.id);
    await summarizeCut(tx, cut);
    await emitCutEvent(tx, cut, "cut.completed", now);
  },
  fail: async (tx, { code, message }, { job, now }) => {
    const cut = await updateOpenCut(tx, job.subjectId, {
      state: "failed",
      error_code: code,
      error_message: message,
      completed_at: now,
    });
    if (cut) await emitCutEvent(tx, cut, "cut.failed", now);
  },
  cleanup: async () => {},
};
