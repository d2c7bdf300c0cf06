/**
 * Live updates of the compiled server: kills lose, repeat and reorder nothing for the clients that follow them, and
 * idle streams need little memory.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { isFullSize } from "../full-size";
import { type Client, createClient } from "../http/client";
import { until } from "../until";
import { startFollowers } from "./followers";
import { IS_BUNDLED_PASS } from "./offcut";
import { BUNDLED, createUser, memoryOf, type Server, startServer } from "./server";

const STREAMS_PER_USER = 20;
const SIZE = isFullSize
  ? { users: 25, changes: 1_000, kills: 20, idleUsers: 25, idleMegabytes: 50 }
  : { users: 2, changes: 100, kills: 3, idleUsers: 5, idleMegabytes: 10 };
const PATIENCE_MS = isFullSize ? 3_600_000 : 120_000;

const createUsers = (server: Server, count: number): Promise<Client[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { id, key } = await createUser(server.data, `live${n}@example.test`, 10);
      return createClient(server.url, key, id, 90);
    }),
  );

/** Returns the ID of the newest event of a user, while the server runs. */
function readNewestId(server: Server, { userId }: Client): number {
  using database = new Database(join(server.data, "offcut.db"), { readonly: true });
  const [row] = database.query("SELECT max(id) AS id FROM live_events WHERE workspace_id = ?").all(userId);
  return (row as { id: number }).id;
}

/**
 * Renames the project until the server has accepted it `changes` times. A change that a kill interrupts may be stored
 * or not.
 */
async function change(user: Client, project: string, changes: number, onChange: () => void): Promise<void> {
  for (let n = 0; n < changes; ) {
    try {
      await user.must("PATCH", `/v1/projects/${project}`, { json: { name: `P${n}` } });
      n++;
      onChange();
    } catch {
      await Bun.sleep(50);
    }
  }
}

test.skipIf(IS_BUNDLED_PASS)(
  `${SIZE.users * STREAMS_PER_USER} clients receive ${SIZE.changes} events each, in order and once, while the server is killed ${SIZE.kills} times`,
  async () => {
    await using server = await startServer(BUNDLED);
    const users = await createUsers(server, SIZE.users);
    const projects = await Promise.all(users.map(async (user) => (await user.project()).id));
    await using followers = startFollowers();
    const keys = users.map(({ key }) => key!);
    followers.send({ kind: "follow", url: server.url(), keys, streamsPerKey: STREAMS_PER_USER });
    const streamCount = users.length * STREAMS_PER_USER;
    const hasOpened = async () => {
      const { streams } = await followers.report();
      return streams.length === streamCount && streams.every(({ connections }) => connections > 0);
    };
    await until("open streams", hasOpened, 120);

    let done = 0;
    const total = SIZE.users * SIZE.changes;
    const changing = Promise.all(users.map((user, n) => change(user, projects[n]!, SIZE.changes, () => done++)));
    for (let n = 1; n <= SIZE.kills; n++) {
      await until("changes before a kill", () => done >= (total * n) / (SIZE.kills + 1), PATIENCE_MS / 1000);
      await server.kill();
      await server.start();
      followers.send({ kind: "moved", url: server.url() });
    }
    await changing;
    // The last event of each: missing or repeated events are before it.
    await Promise.all(users.map((user) => user.project("marker")));
    const markers = users.map((user) => readNewestId(server, user));
    const isBehind = ({ ids }: { ids: number[] }, n: number) =>
      !ids.includes(markers[Math.floor(n / STREAMS_PER_USER)]!);
    const listBehind = async () => (await followers.report()).streams.filter(isBehind);
    await until("all events", async () => (await listBehind()).length === 0, 60).catch(async (error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await listBehind())}`);
    });
    const { streams } = await followers.report();
    const reconnects = streams.map(({ connections }) => connections - 1);

    const rows = await server.query<{ id: number; workspace_id: string }>(
      "SELECT id, workspace_id FROM live_events WHERE type = 'project.updated' ORDER BY id",
    );
    let received = 0;
    for (const [n, user] of users.entries()) {
      const stored = rows.filter((row) => row.workspace_id === user.userId).map(({ id }) => id);
      for (const { ids } of streams.slice(n * STREAMS_PER_USER, (n + 1) * STREAMS_PER_USER)) {
        // The streams were opened after the project was created.
        expect(ids).toEqual(stored.slice(1));
        expect(ids.length).toBeGreaterThanOrEqual(SIZE.changes + 1);
        received += ids.length;
      }
    }
    expect(Math.min(...reconnects)).toBeGreaterThan(0);
    console.log(
      `live events: ${received} events received by ${streams.length} clients, ${reconnects.reduce((a, b) => a + b)} reconnections after ${SIZE.kills} kills`,
    );
  },
  PATIENCE_MS,
);

test.skipIf(IS_BUNDLED_PASS)(
  `${SIZE.idleUsers * STREAMS_PER_USER} idle streams need less than ${SIZE.idleMegabytes} MB`,
  async () => {
    await using server = await startServer(BUNDLED);
    const users = await createUsers(server, SIZE.idleUsers);
    // The first ones load and compile the code that all need.
    const open = async (streamsPerKey: number) => {
      const followers = startFollowers();
      const keys = users.map(({ key }) => key!);
      followers.send({ kind: "idle", url: server.url(), keys, streamsPerKey });
      await until("open streams", async () => {
        const { streams } = await followers.report();
        return streams.length === keys.length * streamsPerKey && streams.every(({ connections }) => connections === 1);
      });
      return followers;
    };
    await (await open(1))[Symbol.asyncDispose]();
    await Bun.sleep(1_000);
    const before = await memoryOf(server.pid(), "VmRSS");
    await using _followers = await open(STREAMS_PER_USER);
    await Bun.sleep(isFullSize ? 35_000 : 2_000);
    const needed = (await memoryOf(server.pid(), "VmRSS")) - before;
    console.log(`live events: ${users.length * STREAMS_PER_USER} idle streams need ${needed.toFixed(1)} MB`);
    expect(needed).toBeLessThan(SIZE.idleMegabytes);
  },
  PATIENCE_MS,
);
