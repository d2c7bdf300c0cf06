/**
 * Makes transcripts searchable: new ones in the transaction that stores them, those of older versions after the start.
 */
import type { MediaFolder } from "../../blobs/folders";
import { type Passage, splitPassages } from "../../domain/search/passages";
import { findFileSize } from "../../lib/file-size";
import type { Queries } from "../../store/db";
import { listRewordedCutIds } from "../../store/library";
import { hasPassages, leaveBacklog, listBacklog, replacePassages } from "../../store/search";
import type { CoreNeeds } from "../needs";
import { indexAssetCorrections, indexOlderCut } from "./index-corrections";

/** A day of speech has 15 MB. */
const MAX_TRANSCRIPT_BYTES = 256_000_000;

type TranscriptFile = { words: { text: string; start: number; end: number }[] };

/** Reads the stored transcript of an asset as passages. Empty without a transcript. */
export async function readPassages({ transcript }: Pick<MediaFolder, "transcript">): Promise<Passage[]> {
  const bytes = (await findFileSize(transcript)) ?? 0;
  if (bytes === 0 || bytes > MAX_TRANSCRIPT_BYTES) return [];
  const { words } = (await Bun.file(transcript).json()) as TranscriptFile;
  const toMilliseconds = (seconds: number): number => Math.round(seconds * 1000);
  return splitPassages(
    words.map(({ text, start, end }) => ({ text, start: toMilliseconds(start), end: toMilliseconds(end) })),
  );
}

/** Maximum number of assets per query. */
const MAX_PAGE_ASSETS = 100;

/** Makes a transcript and the corrections in cuts of its recording searchable. */
export async function indexTranscript(tx: Queries, assetId: string, passages: readonly Passage[]): Promise<void> {
  await replacePassages(tx, assetId, passages);
  await indexAssetCorrections(tx, assetId);
  await leaveBacklog(tx, assetId);
}

/**
 * Indexes transcripts and corrected texts that are not searchable yet. Runs once after the start, in the background;
 * the next start continues. Assets that enter the backlog meanwhile are being deleted, and wait for the next start.
 */
export async function indexBacklog(services: CoreNeeds): Promise<void> {
  const ids: string[] = [];
  for (let page = [""]; page.length > 0; ids.push(...page))
    page = await listBacklog(services.store.read, page.at(-1)!, MAX_PAGE_ASSETS);
  for (const id of ids) await indexOlderAsset(services, id);
}

/**
 * A file or a plan that is not JSON, or has another shape, cannot be repaired. The next start tries again after other
 * errors.
 */
const isPermanent = (error: unknown): boolean => error instanceof SyntaxError || error instanceof TypeError;

async function indexOlderAsset({ store, folders, log }: CoreNeeds, id: string): Promise<void> {
  let isComplete = true;
  if (!(await hasPassages(store.read, id))) {
    const found = await readPassages(folders.media(id)).catch((error) => {
      log.warn("search.transcript_unreadable", { asset: id, error });
      if (!isPermanent(error)) isComplete = false;
      return [];
    });
    // A file that is missing may be in a folder that is away.
    await folders.guard.confirmOnline();
    await store.write((tx) => replacePassages(tx, id, found));
  }
  for (const cutId of await listRewordedCutIds(store.read, id))
    await indexOlderCut(store, cutId).catch((error) => {
      log.warn("search.corrections_unreadable", { cut: cutId, error });
      if (!isPermanent(error)) isComplete = false;
    });
  if (isComplete) await store.write((tx) => leaveBacklog(tx, id));
}
