/** Actions on several recordings. Each action is one row of the tray. */

import type { ExportPart } from "../../../src/domain/export-parts";
import type { CutMode } from "../../../src/domain/plan";
import { api, exportUrl, isFinal, isNotFound, must, type Schemas, toMessage } from "../../app/api";
import { formatCount, nameOf } from "../../app/format";
import { recall, remember } from "../../app/memory";
import { QUIET_RENDERS, quietRenders } from "../../app/open-jobs";
import { runDeletion } from "../../app/query-client";
import { sleep } from "../../app/retry";
import { openDownload } from "../../app/save-file";
import { toWorkspaceHeader, workspace } from "../../app/session";
import { showToast } from "../../app/toasts";
import { isMode } from "../../editor/versions/name-version";
import { addBatch, changeBatch, endBatch, insist, runBatch } from "../../tray/batches";
import { followWork } from "../../tray/follow-work";
import { fitChoice, type RenderChoice, toOutput } from "../asset/output/render-choices";
import type { Recording } from "./recording";

const toItems = <One extends Recording>(recordings: readonly One[]) =>
  recordings.map((recording) => ({ id: recording.id, name: nameOf(recording), recording }));

/** Returns the open workspace and its header. Later calls use them even if the user opens another workspace. */
function stayInWorkspace() {
  const workspaceId = workspace.peek()?.id ?? null;
  return { workspaceId, headers: toWorkspaceHeader(workspaceId) };
}

/**
 * Deletes recordings. Counts those that somebody else has deleted already, unless the user has lost access to the
 * workspace.
 */
export async function deleteRecordings(recordings: readonly Recording[]): Promise<void> {
  const { workspaceId, headers } = stayInWorkspace();
  let gone = 0;
  let access: Promise<unknown> | null = null;
  const deleteAsset = async (id: string) => {
    try {
      await runDeletion(id, must(api.DELETE("/api/v1/assets/{asset_id}", { params: toPath(id), headers })));
    } catch (error) {
      if (!isNotFound(error) || workspaceId === null) throw error;
      // Former members get 404 for everything, including the workspace.
      const params = { path: { workspace_id: workspaceId } };
      access ??= must(api.GET("/api/v1/workspaces/{workspace_id}", { params }));
      await access.catch((failure: unknown) => {
        access = null;
        throw failure;
      });
      gone++;
    }
  };
  const onEnd = () => {
    const text = `${formatCount(gone, "recording")} ${gone === 1 ? "was" : "were"} already gone.`;
    if (gone > 0) showToast({ kind: "info", text });
    gone = 0;
  };
  await runBatch({ label: "Delete", items: toItems(recordings), run: ({ id }) => deleteAsset(id), onEnd });
}

const toPath = (assetId: string) => ({ path: { asset_id: assetId } });

export function moveRecordings(recordings: readonly Recording[], project: Schemas["Project"]): Promise<void> {
  const { headers } = stayInWorkspace();
  const body = { project_id: project.id };
  return runBatch({
    label: `Move to ${project.name}`,
    items: toItems(recordings),
    run: ({ id }) => must(api.PATCH("/api/v1/assets/{asset_id}", { params: toPath(id), body, headers })),
  });
}

const PLANLESS = { plan: "false" as const };

/**
 * Makes cuts in a mode, except of recordings whose newest cut has it. Uses the script and the edits of the newest cut,
 * or the script of a planned cut.
 */
export function cutRecordings(recordings: readonly Recording[], mode: CutMode): Promise<void> {
  const { workspaceId, headers } = stayInWorkspace();
  /** A cut that was made again has edits too, although it was not edited itself. */
  const readKept = async (cutId: string) => {
    const params = { path: { cut_id: cutId }, query: PLANLESS };
    const { script, options } = await must(api.GET("/api/v1/cuts/{cut_id}", { params, headers }));
    return { options, body: { script, keep_edits_of: cutId } };
  };
  const readPlanned = async (id: string) => {
    const { script } = await must(
      api.GET("/api/v1/assets/{asset_id}/cut-after-upload", { params: toPath(id), headers }),
    );
    return { options: null, body: { script } };
  };
  return runBatch({
    label: "Make cut",
    items: toItems(recordings),
    run: async ({ id, recording: { latest_cut: cut } }) => {
      const kept = cut === null ? await readPlanned(id) : await readKept(cut.id);
      if (isMode(kept.options, mode)) return null;
      return must(api.POST("/api/v1/cuts", { body: { asset_id: id, options: { mode }, ...kept.body }, headers }));
    },
    follow: async (cut, signal) => {
      if (cut === null) return;
      const params = { path: { cut_id: cut.id }, query: PLANLESS };
      await followWork(cut, workspaceId, () => must(api.GET("/api/v1/cuts/{cut_id}", { params, headers })), signal);
    },
  });
}

type CutRecording = Recording & { latest_cut: NonNullable<Recording["latest_cut"]> };

export const hasCut = (recording: Recording): recording is CutRecording => recording.latest_cut !== null;

/** Renders the newest cuts; without a choice, as they were recorded. */
export function renderRecordings(recordings: readonly CutRecording[], choice: RenderChoice | null): Promise<void> {
  const { workspaceId, headers } = stayInWorkspace();
  return runBatch({
    label: "Render",
    items: toItems(recordings),
    run: async ({ id, recording }) => {
      const output = choice === null ? {} : toOutput(fitChoice(choice, recording));
      const body = { asset_id: id, cut_id: recording.latest_cut.id, output };
      const render = await must(api.POST("/api/v1/renders", { body, headers }));
      if (recordings.length > 1) addQuietRender(render.id);
      return render;
    },
    follow: async (render, signal) => {
      const params = { path: { render_id: render.id } };
      try {
        await followWork(
          render,
          workspaceId,
          () => must(api.GET("/api/v1/renders/{render_id}", { params, headers })),
          signal,
        );
      } finally {
        // The row no longer reports its failure.
        if (signal.aborted) quietRenders.delete(render.id);
      }
    },
  });
}

/** Maximum number of renders without a message that are stored: the newest. */
const MAX_QUIET_RENDERS = 2_000;

function addQuietRender(id: string): void {
  quietRenders.add(id);
  const before = recall(QUIET_RENDERS)?.split(",") ?? [];
  remember(QUIET_RENDERS, [...before, id].slice(-MAX_QUIET_RENDERS).join());
}

const POLL_MS = 1_000;

/** Downloads files of the newest cuts as one archive, and follows its progress. Cancels it when the user stops it. */
export async function exportRecordings(recordings: readonly Recording[], parts: ExportPart[]): Promise<void> {
  const { workspaceId, headers } = stayInWorkspace();
  const { id: row, signal } = addBatch("Export", recordings.length);
  let mayRetry = false;
  try {
    const body = { asset_ids: recordings.map(({ id }) => id), parts };
    const { id } = await must(api.POST("/api/v1/exports", { body, headers }));
    signal.throwIfAborted();
    const params = { path: { export_id: id } };
    const cancel = () => void api.DELETE("/api/v1/exports/{export_id}", { params, headers }).catch(() => {});
    signal.addEventListener("abort", cancel, { once: true });
    openDownload(exportUrl(workspaceId, id), "Offcut export.zip");
    changeBatch(row, { rest: "download" });
    for (let isOpen = true; isOpen; ) {
      await sleep(POLL_MS, signal);
      const read = () => must(api.GET("/api/v1/exports/{export_id}", { params, headers }));
      const { state, done, problems } = await insist(read, signal);
      const named = problems.map(({ asset_id, name, message }) => ({
        id: asset_id,
        name: nameOf({ name }),
        message,
      }));
      const failed = { id: null, name: "Export", message: "The download was not completed." };
      mayRetry = state === "failed";
      changeBatch(row, { done, problems: mayRetry ? [...named, failed] : named });
      isOpen = state === "waiting" || state === "running";
    }
  } catch (error) {
    mayRetry = !isFinal(error);
    if (!signal.aborted) changeBatch(row, { problems: [{ id: null, name: "Export", message: toMessage(error) }] });
  }
  endBatch(row, mayRetry ? () => void exportRecordings(recordings, parts) : null);
}
