/** A data folder with accounts, projects and recordings, as a server that has run for a while has it. */
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { getFolders } from "../../../src/blobs/folders";
import { sha256 } from "../../../src/lib/hash";
import { newId } from "../../../src/lib/ids";
import { openStore, type Store } from "../../../src/store/db";
import { migrate } from "../../../src/store/migrate";
import { insertProject } from "../../../src/store/projects";
import { insertApiKey } from "../../../src/store/users";
import { addAsset, addUser, grantWorkspace } from "../../unit/store/test-store";

export type BusyUser = { userId: string; key: string };
export type BusySize = { users: number; projectsPerUser: number; recordings: number; recordingBytes: number };

const WRITE_BYTES = 4 * 1024 ** 2;

/** Creates the folder, before the server starts. The recordings belong to the first user, and cannot be compressed. */
export async function createBusyFolder(dataDir: string, size: BusySize): Promise<BusyUser[]> {
  await mkdir(dataDir, { mode: 0o700 });
  const store = await openStore(join(dataDir, "offcut.db"));
  await migrate(store);
  const users: BusyUser[] = [];
  for (let n = 0; n < size.users; n++) users.push(await createUser(store, size.projectsPerUser));
  const folders = getFolders(dataDir);
  const [first] = users as [BusyUser];
  for (let n = 0; n < size.recordings; n++) {
    const id = newId();
    await store.write(async (tx) => {
      const projectId = newId();
      await insertProject(tx, createProject(projectId, first.userId, n));
      const owner = { workspaceId: first.userId, projectId };
      await addAsset(tx, owner, { id, state: "ready", filename: `${n}.wav`, upload_length: size.recordingBytes });
    });
    await writeRandomFile(folders.media(id).source, size.recordingBytes);
  }
  await store.close();
  return users;
}

function createUser(store: Store, projects: number): Promise<BusyUser> {
  const key = `sk_${newId()}`;
  return store.write(async (tx) => {
    const { userId } = await addUser(tx);
    const now = Date.now();
    await insertApiKey(tx, {
      id: newId(),
      user_id: userId,
      workspace_id: userId,
      name: "bench",
      prefix: "sk_",
      hash: sha256(key),
      created_at: now,
    });
    await grantWorkspace(tx, userId, 10_000);
    for (let n = 0; n < projects; n++) await insertProject(tx, createProject(newId(), userId, n));
    return { userId, key };
  });
}

const createProject = (id: string, workspaceId: string, n: number) => ({
  id,
  workspace_id: workspaceId,
  created_by: workspaceId,
  name: `Project ${n}`,
  state: "active" as const,
  archived_at: null,
  created_at: n,
  updated_at: n,
  last_activity_at: n,
});

async function writeRandomFile(path: string, bytes: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await using file = await open(path, "w");
  const block = new Uint8Array(WRITE_BYTES);
  for (let at = 0; at < block.length; at += 65_536) crypto.getRandomValues(block.subarray(at, at + 65_536));
  for (let at = 0; at < bytes; at += WRITE_BYTES) {
    // Each block differs, so that nothing can be shared.
    new DataView(block.buffer).setFloat64(0, Math.random());
    await file.write(block, 0, Math.min(WRITE_BYTES, bytes - at));
  }
}
