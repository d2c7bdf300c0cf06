/** Writes the archive of a user's data, with its README. */
import { createZipWriter, type ZipEntry, type ZipOutput, type ZipWriter } from "../../lib/zip-writer";
import { EXPORTED_ROWS } from "../../store/exported-rows";
import type { User } from "../../store/users";
import type { CoreNeeds } from "../needs";
import { addMediaFiles, openFile, readChunks } from "./media-files";
import type { ExportedTable } from "./tables";
import { EXPORTED_TABLES } from "./tables";

/** Rows are compressed in portions of at least this many characters. */
const MIN_CHUNK_CHARACTERS = 64 * 1024;
/** Garbage is collected after this much text: by itself, the heap would grow to twice the size. */
const COLLECT_INTERVAL_CHARACTERS = 4 * 1024 * 1024;

/**
 * Writes a ZIP archive to `output` and returns its size in bytes. Rejects with the reason of `signal` soon after it is
 * aborted.
 */
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

const TITLE = "Your data in Offcut";

/** Formats the README. `createdAt`: milliseconds since 1970. */
function formatReadme(request: { email: string; hasMedia: boolean; createdAt: number }): string {
  const files = EXPORTED_TABLES.map(({ file, about }) => [file, about] as const);
  const more = [
    ["transcripts/<asset_id>.json", "the recognized words of a recording, with times in seconds"],
    ...(request.hasMedia
      ? ([
          ["media/sources/", "the recordings, under the names that they were uploaded with"],
          ["media/renders/", "the rendered files"],
          ["media.json", "which file belongs to which recording or render, and which files were missing"],
        ] as const)
      : []),
  ] as const;
  const all = [...files, ...more];
  const width = Math.max(...all.map(([file]) => file.length));
  return `${TITLE}
${"=".repeat(TITLE.length)}

Account: ${request.email}
Created: ${new Date(request.createdAt).toISOString()}

All files are JSON in UTF-8, except for media. Each contains an array with one
object per line, so that it can be read with any JSON library, and line by line
with any text tool. Times are ISO 8601 in UTC, fields have the names of Offcut's
API, and a field without a value is null. An ID in one file, such as the
asset_id of a cut, is the id of an object in another one.

Content
-------

${all.map(([file, about]) => `${file.padEnd(width)}  ${about}`).join("\n")}

What is included
----------------

- Your personal workspace: everything.
- Shared workspaces that you are a member of: the projects, recordings, cuts,
  renders and pipelines that you have made, and what you have ordered.
- Not included are passwords, keys, secrets and links that work without signing
  in: nobody gets into your account with this file.
- Rows that changed while the file was written may be in it in either form.
${request.hasMedia ? "" : "\nThe media files are not in this export. Request it with media=true to get them.\n"}`;
}
