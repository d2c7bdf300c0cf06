import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { getFolders } from "../../../../src/blobs/folders";
import { newId } from "../../../../src/lib/ids";
import { saveFileCheck } from "../../../../src/store/file-checks";
import { bundledJobCommand } from "../../../http/job-command";
import { createMigratedStore } from "../../../migrated-database";
import { temporaryFolder } from "../../../temporary-folder";
import { addAsset, addUser } from "../../store/test-store";

setDefaultTimeout(120_000);

const FILES = 160;
const FILE_BYTES = 1_000;
const NOW = Date.parse("2027-02-03T12:00:00Z");
const FIVE_WEEKS_MS = 5 * 7 * 24 * 3600 * 1000;

const countRead = (path: string): number => {
  const database = new Database(path, { readonly: true });
  const { n } = database.query("SELECT count(*) AS n FROM file_checks WHERE checked_at >= ?").get(NOW) as { n: number };
  database.close();
  return n;
};

test("a pass that was killed continues with the files that it had not read", async () => {
  await using temporary = await temporaryFolder();
  const folders = getFolders(temporary.path);
  const database = join(temporary.path, "offcut.db");
  const store = await createMigratedStore(database);
  for (const folder of [folders.mediaRoot, folders.rendersRoot, folders.uploads]) await mkdir(folder);
  const ids = await store.write(async (tx) => {
    const owner = await addUser(tx);
    const assets = [];
    for (let n = 0; n < FILES; n++)
      assets.push(await addAsset(tx, owner, { state: "ready", upload_length: FILE_BYTES, has_poster: false }));
    return assets.map(({ id }) => id);
  });
  for (const [n, id] of ids.entries()) await Bun.write(folders.media(id).source, new Uint8Array(FILE_BYTES).fill(n));
  // Checks of a server that has checked files for weeks, so that all are due.
  await store.write((tx) =>
    saveFileCheck(tx, {
      ...{ id: newId(), path: `media/${ids[0]}/source`, bytes: FILE_BYTES, modified_at: 0, sha256: null },
      ...{ checked_at: NOW - FIVE_WEEKS_MS, decoded_at: null, problem: null, detail: null, found: null },
      ...{ found_at: null, accepted_at: null, restore_error: null, created_at: NOW - FIVE_WEEKS_MS },
    }),
  );
  await store.close();
  const start = async (bytesPerSecond: number) =>
    Bun.spawn(
      [
        ...[process.execPath, join(import.meta.dir, "scrub-process.ts"), temporary.path, String(NOW)],
        ...[String(bytesPerSecond), ...(await bundledJobCommand())],
      ],
      { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
    );
  const killed = await start(40_000);
  for await (const text of killed.stdout) if (text.length > 0) break;
  killed.kill("SIGKILL");
  await killed.exited;
  const read = countRead(database);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(FILES);

  const resumed = await start(1e9);
  const report = JSON.parse((await new Response(resumed.stdout).text()).replaceAll("saved\n", ""));
  expect(report).toEqual({ isComplete: true, files: FILES, read_files: FILES - read, findings: 0 });
  expect(countRead(database)).toBe(FILES);
});
