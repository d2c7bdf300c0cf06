/** Writes an archive with a folder for each recording. */
import { AppError } from "../../domain/errors";
import { EXPORT_PART_LABELS, type ExportPart } from "../../domain/export-parts";
import { createUniqueNames, getRenderFileName, toFileStem } from "../../domain/file-names";
import { EXPORT_FORMATS, type ExportFormat } from "../../domain/timeline";
import { createZipWriter, type ZipOutput, type ZipWriter } from "../../lib/zip-writer";
import { type Asset, findAsset } from "../../store/assets";
import { type Cut, findNewestCut } from "../../store/cuts";
import { findNewestRender } from "../../store/renders";
import { createExport, createSubtitle, createTranscriptFile } from "../cuts/plan-files";
import type { PlanFile } from "../cuts/plan-outputs";
import type { PlanNeeds } from "../cuts/plan-requests";
import { openFile, readChunks } from "../data-export/media-files";
import type { BatchExport } from "./batch-exports";

const isTimeline = (part: ExportPart): part is ExportFormat => EXPORT_FORMATS.some((format) => format === part);

/** Writes the archive recording by recording. What is missing, and why, is among the problems and in the file `Problems.txt`. */
export async function writeBatch(
  services: PlanNeeds,
  one: BatchExport,
  output: ZipOutput,
  signal: AbortSignal,
): Promise<void> {
  const zip = createZipWriter(output);
  const nameFolder = createUniqueNames();
  for (const assetId of one.assetIds) {
    signal.throwIfAborted();
    const asset = await findAsset(services.store.read, one.workspaceId, assetId);
    const name = asset && (asset.name ?? toFileStem(asset.filename));
    const report = (message: string) => one.problems.push({ asset_id: assetId, name, message });
    if (asset === null) report("Recording not found.");
    else await addRecording(services, { zip, asset, folder: nameFolder(name ?? "Recording"), one, signal, report });
    one.done++;
  }
  if (one.problems.length > 0) await addText(zip, "Problems.txt", formatProblems(one), services.now());
  await zip.finish();
}

type RecordingEntry = {
  zip: ZipWriter;
  asset: Asset;
  folder: string;
  one: BatchExport;
  signal: AbortSignal;
  report(message: string): void;
};

async function addRecording(services: PlanNeeds, entry: RecordingEntry): Promise<void> {
  const { zip, asset, folder, one, signal, report } = entry;
  const cut = await findNewestCut(services.store.read, asset.id);
  if (cut === null) return report("Recording has no cut.");
  const nameFile = createUniqueNames();
  for (const part of one.parts) {
    signal.throwIfAborted();
    try {
      if (part === "render") await addRender(services, entry, cut, nameFile);
      else {
        const file = await createPart(services, cut, part);
        const bytes = file.isBase64 ? Uint8Array.fromBase64(file.body) : new TextEncoder().encode(file.body);
        await addBytes(zip, `${folder}/${nameFile(file.filename)}`, bytes, cut.completed_at ?? cut.created_at);
      }
    } catch (error) {
      // Errors of the output end the archive.
      if (!(error instanceof AppError)) throw error;
      report(`${EXPORT_PART_LABELS[part]}: ${error.message}`);
    }
  }
}

function createPart(services: PlanNeeds, cut: Cut, part: Exclude<ExportPart, "render">): Promise<PlanFile> {
  if (isTimeline(part))
    return createExport(services, cut, {
      format: part,
      layout: "tight",
      mediaRoot: null,
      frameRate: null,
      dropFrame: null,
    });
  if (part === "srt" || part === "vtt") return createSubtitle(services, cut, { format: part, timeline: "cut" });
  return createTranscriptFile(services, cut, { format: part, hasTimes: false });
}

async function addRender(
  { store, folders }: PlanNeeds,
  { zip, asset, folder, signal }: RecordingEntry,
  cut: Cut,
  nameFile: (name: string) => string,
): Promise<void> {
  const render = await findNewestRender(store.read, cut.id);
  if (render === null) throw new AppError("not_found", "The newest cut has no render.");
  const path = folders.renderOutput(render.id, render.resolved.format);
  const file = await folders.guard.readOnline(() => openFile(path));
  if (file === null) throw new AppError("not_found", "The file of the render is missing.");
  try {
    const { mtimeMs } = await file.stat();
    const name = `${folder}/${nameFile(getRenderFileName(render, asset.filename))}`;
    await zip.add({ name, modifiedAt: mtimeMs, isCompressed: false }, readChunks(file, signal));
  } finally {
    await file.close();
  }
}

const addText = (zip: ZipWriter, name: string, text: string, modifiedAt: number): Promise<number> =>
  addBytes(zip, name, new TextEncoder().encode(text), modifiedAt);

const addBytes = (zip: ZipWriter, name: string, bytes: Uint8Array, modifiedAt: number): Promise<number> =>
  zip.add({ name, modifiedAt, isCompressed: true }, once(bytes));

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const formatProblems = ({ problems }: BatchExport): string =>
  problems.map(({ name, asset_id, message }) => `${name ?? asset_id}: ${message}\n`).join("");
