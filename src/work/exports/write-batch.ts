/** Writes an archive with a folder for each recording. */
import { AppError } from "../../domain/errors";
import { EXPORT_PART_LABELS, type ExportPart } from "../../domain/export-parts";
import { createUniqueNames, getRenderFileName, toFileStem } from "../../domain/file-names";
import { EXPORT_FORMATS, type ExportFormat } from "../../domain/timeline";
import { sleep } from "../../lib/sleep";
import { createZipWriter, type ZipContent, type ZipOutput, type ZipWriter } from "../../lib/zip-writer";
import { type Asset, findAsset } from "../../store/assets";
import { type Cut, findNewestCut } from "../../store/cuts";
import { findNewestRender } from "../../store/renders";
import { createExport, createSubtitle, createTranscriptFile } from "../cuts/plan-files";
import type { PlanFile } from "../cuts/plan-outputs";
import type { PlanNeeds } from "../cuts/plan-requests";
import { openFile, readChunks } from "../data-export/media-files";
import type { BatchExport } from "./batch-exports";

const isTimeline = (part: ExportPart): part is ExportFormat => EXPORT_FORMATS.some((format) => format === part);

/**
 * Writes the archive recording by recording. Missing parts and the reasons are listed in the problems and in the file
 * `Problems.txt`. Errors: those of the output, and of a part that stays unavailable.
 */
export async function writeBatch(
  services: PlanNeeds,
  one: BatchExport,
  output: ZipOutput,
  signal: AbortSignal,
): Promise<void> {
  const zip = createZipWriter(output);
  const nameFolder = createUniqueNames();
  const problemsName = nameFolder("Problems.txt");
  for (const assetId of one.assetIds) {
    signal.throwIfAborted();
    const asset = await findAsset(services.store.read, one.workspaceId, assetId);
    const name = asset && (asset.name ?? toFileStem(asset.filename));
    const report = (message: string) => one.problems.push({ asset_id: assetId, name, message });
    if (asset === null) report("Recording not found.");
    else await addRecording(services, { zip, asset, folder: nameFolder(name ?? "Recording"), one, signal, report });
    one.done++;
  }
  if (one.problems.length > 0) {
    const chunks = [new TextEncoder().encode(formatProblems(one))];
    await zip.add({ name: problemsName, modifiedAt: services.now(), isCompressed: true }, chunks);
  }
  signal.throwIfAborted();
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
    const opened = await untilAvailable(() => openPart(services, entry, cut, part), signal).catch((error) => {
      signal.throwIfAborted();
      if (error instanceof AppError) {
        report(`${EXPORT_PART_LABELS[part]}: ${error.message}`);
        // A longer refusal, such as that of timelines on a full disk, affects only this part.
        if (isTemporary(error) && getWaitMs(error) < MAX_RETRY_MS) throw error;
      } else {
        services.log.warn("export.part_failed", { export: one.id, asset: asset.id, part, error });
        report(`${EXPORT_PART_LABELS[part]}: Internal error. Details are in the server log.`);
      }
      return null;
    });
    if (opened === null) continue;
    await using file = opened;
    const { modifiedAt, isCompressed, chunks } = file;
    await zip.add({ name: `${folder}/${nameFile(file.name)}`, modifiedAt, isCompressed }, chunks);
  }
}

const isTemporary = (error: unknown): error is AppError =>
  error instanceof AppError && error.details.retryAfterSeconds !== undefined;

const getWaitMs = ({ details }: AppError): number => (details.retryAfterSeconds ?? 0) * 1000;

/**
 * After this time, an attempt that is refused is the last one. With its own wait, shorter than an archive may be idle.
 */
const MAX_RETRY_MS = 60_000;

/**
 * Retries a part that is refused temporarily, because of too many requests or an offline folder. Errors: those of
 * `open`.
 */
async function untilAvailable<Result>(open: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (const startedAt = performance.now(); ; ) {
    signal.throwIfAborted();
    try {
      return await open();
    } catch (error) {
      const waitMs = isTemporary(error) ? getWaitMs(error) : Number.POSITIVE_INFINITY;
      if (performance.now() + waitMs > startedAt + MAX_RETRY_MS) throw error;
      await sleep(waitMs, signal);
    }
  }
}

/** A file of a recording, to be written to the archive. */
type PartFile = AsyncDisposable & {
  name: string;
  modifiedAt: number;
  isCompressed: boolean;
  chunks: ZipContent;
};

/**
 * Makes or opens a file of a recording. Errors: `not_found`, those of `createPart`, `upstream_unavailable` (storage).
 */
async function openPart(services: PlanNeeds, entry: RecordingEntry, cut: Cut, part: ExportPart): Promise<PartFile> {
  if (part === "render") return openRender(services, entry, cut);
  const { filename, body, isBase64 } = await createPart(services, cut, part);
  return {
    name: filename,
    modifiedAt: cut.completed_at ?? cut.created_at,
    isCompressed: true,
    chunks: [isBase64 ? Uint8Array.fromBase64(body) : new TextEncoder().encode(body)],
    [Symbol.asyncDispose]: async () => {},
  };
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

async function openRender(
  { store, folders }: PlanNeeds,
  { asset, signal }: RecordingEntry,
  cut: Cut,
): Promise<PartFile> {
  const render = await findNewestRender(store.read, cut.id);
  if (render === null) throw new AppError("not_found", "The newest cut has no render.");
  const path = folders.renderOutput(render.id, render.resolved.format);
  const file = await folders.guard.readOnline(() => openFile(path));
  if (file === null) throw new AppError("not_found", "The file of the render is missing.");
  return {
    name: getRenderFileName(render, asset.filename),
    modifiedAt: render.completed_at ?? render.created_at,
    isCompressed: false,
    chunks: readChunks(file, signal),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

const formatProblems = ({ problems }: BatchExport): string =>
  problems.map(({ name, asset_id, message }) => `${name ?? asset_id}: ${message}\n`).join("");
