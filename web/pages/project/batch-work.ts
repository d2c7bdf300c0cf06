/** What is done with several recordings, each as one row of the tray. */
import type { CutMode } from "../../../src/domain/plan";
import { ApiError, api, must, type Schemas, toMessage } from "../../app/api";
import { exportUrl } from "../../app/media-url";
import { runDeletion } from "../../app/query-client";
import { openDownload } from "../../app/save-file";
import { addBatch, changeBatch, endBatch, runBatch } from "../../tray/batches";
import { nameOf } from "../asset/asset";
import type { Recording } from "./recording";

const toItems = (recordings: readonly Recording[]) =>
  recordings.map((recording) => ({ id: recording.id, name: nameOf(recording), recording }));

/** Deletes a recording. Succeeds if somebody else has already deleted it. */
async function deleteAsset(id: string): Promise<void> {
  try {
    const params = { path: { asset_id: id } };
    await runDeletion(id, must(api.DELETE("/api/v1/assets/{asset_id}", { params })));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

export const deleteRecordings = (recordings: readonly Recording[]): Promise<void> =>
  runBatch({
    label: "Delete",
    items: toItems(recordings),
    run: ({ id }) => deleteAsset(id),
  });

export const moveRecordings = (recordings: readonly Recording[], project: Schemas["Project"]): Promise<void> =>
  runBatch({
    label: `Move to ${project.name}`,
    items: toItems(recordings),
    run: ({ id }) => {
      const params = { path: { asset_id: id } };
      return must(api.PATCH("/api/v1/assets/{asset_id}", { params, body: { project_id: project.id } }));
    },
  });

export const cutRecordings = (recordings: readonly Recording[], mode: CutMode): Promise<void> =>
  runBatch({
    label: "Make cut",
    items: toItems(recordings),
    run: ({ id }) => must(api.POST("/api/v1/cuts", { body: { asset_id: id, options: { mode } } })),
  });

/** A problem that is known without asking the server. */
const refuse = (message: string): never => {
  throw new ApiError(message, "conflict", 409);
};

export type RenderFormat = "mp4" | "mov" | "m4a" | "mp3";

/** `format` "" is that of the recording. */
export const renderRecordings = (recordings: readonly Recording[], format: RenderFormat | ""): Promise<void> => {
  const items = toItems(recordings);
  const cuts = new Map(items.map(({ id, recording }) => [id, recording.latest_cut?.id]));
  return runBatch({
    label: "Render",
    items,
    run: ({ id }) => {
      const cutId = cuts.get(id) ?? refuse("There is no cut yet.");
      const output = format === "" ? {} : { format };
      return must(api.POST("/api/v1/renders", { body: { asset_id: id, cut_id: cutId, output } }));
    },
  });
};

export type ExportPart = "fcpxml" | "fcp7xml" | "edl" | "otio" | "srt" | "vtt" | "txt" | "docx" | "render";

const POLL_MS = 1_000;

/** Downloads files of the newest cuts as one archive, and follows its progress. */
export async function exportRecordings(recordings: readonly Recording[], parts: ExportPart[]): Promise<void> {
  const items = toItems(recordings);
  const row = addBatch("Export", items.length);
  try {
    const body = { asset_ids: items.map(({ id }) => id), parts };
    const { id } = await must(api.POST("/api/v1/exports", { body }));
    openDownload(exportUrl(id), "Offcut export.zip");
    const params = { path: { export_id: id } };
    for (let isOpen = true; isOpen && !row.signal.aborted; ) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const { state, done, problems } = await must(api.GET("/api/v1/exports/{export_id}", { params }));
      const named = problems.map(({ name, message }) => ({ name: name ?? "Unnamed recording", message }));
      const failed = { name: "Export", message: "The download was not completed." };
      changeBatch(row.id, { done, problems: state === "failed" ? [...named, failed] : named });
      isOpen = state === "waiting" || state === "running";
    }
  } catch (error) {
    changeBatch(row.id, { problems: [{ name: "Export", message: toMessage(error) }] });
  }
  endBatch(row.id);
}
