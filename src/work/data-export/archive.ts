/** Writes the archive of a user's data. */
import { createZipWriter, type ZipEntry, type ZipOutput, type ZipWriter } from "../../lib/zip-writer";
import { EXPORTED_ROWS } from "../../store/exported-rows";
import type { User } from "../../store/users";
import type { CoreNeeds } from "../needs";
import type { ExportedTable } from "./exported-table";
import { addMediaFiles, openFile, readChunks } from "./media-files";
import { formatReadme } from "./readme";
import { EXPORTED_TABLES } from "./tables";

/** Rows are compressed in portions of at least this many characters. */
const MIN_CHUNK_CHARACTERS = 64 * 1024;
/** Garbage is collected after this much text: by itself, the heap would grow to twice the size. */
const COLLECT_INTERVAL_CHARACTERS = 4 * 1024 * 1024;

/** Writes a ZIP archive to `output` and returns its size in bytes. Rejects with the reason of `signal` soon after it is aborted. */
export async function writeArchive(
  services: CoreNeeds,
  request: { user: User; hasMedia: boolean; output: ZipOutput; signal: AbortSignal },
): Promise<number> {
  const { user, hasMedia, signal } = request;
  const { store } = services;
  const zip = createZipWriter(request.output);
  const createdAt = services.now();
  const asText = (name: string): ZipEntry => ({ name, modifiedAt: createdAt, isCompressed: true });

  await zip.add(asText("README.txt"), encode([formatReadme({ email: user.email, hasMedia, createdAt })]));
  for (const table of EXPORTED_TABLES) {
    signal.throwIfAborted();
    await zip.add(asText(table.file), encodeRows(readTable(services, table, user.id, signal)));
  }
  for await (const assets of EXPORTED_ROWS.assets(store.read, user.id)) {
    for (const asset of assets) if (asset.has_transcript) await addTranscript(services, zip, asset.id, signal);
  }
  if (hasMedia) {
    const described = await addMediaFiles(services, zip, user.id, signal);
    await zip.add(asText("media.json"), encodeRows([described]));
  }
  signal.throwIfAborted();
  return zip.finish();
}

async function* readTable(
  { store }: CoreNeeds,
  table: ExportedTable,
  userId: string,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  for await (const batch of table.read(store.read, userId)) {
    signal.throwIfAborted();
    yield batch;
  }
}

/** Adds the transcript of an asset, if the file still exists. */
async function addTranscript(
  { folders }: CoreNeeds,
  zip: ZipWriter,
  assetId: string,
  signal: AbortSignal,
): Promise<void> {
  const file = await folders.guard.readOnline(() => openFile(folders.media(assetId).transcript));
  if (!file) return;
  try {
    const { mtimeMs } = await file.stat();
    const entry = { name: `transcripts/${assetId}.json`, modifiedAt: mtimeMs, isCompressed: true };
    await zip.add(entry, readChunks(file, signal));
  } finally {
    await file.close();
  }
}

type Batches<T> = Iterable<T> | AsyncIterable<T>;

/** Formats batches of JSON texts as a JSON array with one element per line. */
async function* encodeRows(batches: Batches<string[]>): AsyncGenerator<Uint8Array> {
  yield* encode(formatRows(batches));
}

async function* formatRows(batches: Batches<string[]>): AsyncGenerator<string> {
  let separator = "[\n";
  for await (const batch of batches) {
    for (const row of batch) {
      yield separator;
      yield row;
      separator = ",\n";
    }
  }
  yield separator === "[\n" ? "[]\n" : "\n]\n";
}

/** Encodes texts as UTF-8 in larger chunks. */
async function* encode(texts: Batches<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let pending: string[] = [];
  let length = 0;
  let uncollected = 0;
  for await (const text of texts) {
    pending.push(text);
    length += text.length;
    if (length < MIN_CHUNK_CHARACTERS) continue;
    yield encoder.encode(pending.join(""));
    uncollected += length;
    pending = [];
    length = 0;
    if (uncollected < COLLECT_INTERVAL_CHARACTERS) continue;
    Bun.gc(false);
    uncollected = 0;
  }
  if (length > 0) yield encoder.encode(pending.join(""));
}
