/**
 * A real server in this process with a fresh data folder, a free port, the real store, runner and ffmpeg. Only the
 * recognizer is a fake, and the clock can be advanced.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { type RunningServer, type ServerOverrides, startServer } from "../../src/boot";
import { loadConfig } from "../../src/config";
import { DATABASE_NAME } from "../../src/domain/backup";
import { parseTrashName } from "../../src/domain/point-in-time";
import { newId } from "../../src/lib/ids";
import { createLog } from "../../src/lib/log";
import { insertLedgerEntry } from "../../src/store/credits";
import { openStore, type Store } from "../../src/store/db";
import { insertUser } from "../../src/store/users";
import { listEntityEvents } from "../../src/store/webhooks";
import { createApiKey, grantCredits } from "../../src/work/access/command-accounts";
import { createPasswords } from "../../src/work/identity/passwords";
import type { MediaTools } from "../../src/work/jobs/media-tools";
import type { Services } from "../../src/work/services";
import { writeMigratedDatabase } from "../migrated-database";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { type Client, createClient } from "./client";
import { type FakeSpeech, fakeSpeech, type Hold } from "./fake-speech";
import { bundledJobCommand } from "./job-command";
import { BUNDLED_FFMPEG } from "./media";
import { createSharedChild, replaceSharedChildren } from "./shared-child";

/**
 * Timeout of a test: preparing and rendering are real work, also on machines with two cores. Each test file sets it.
 */
export const PATIENCE_MS = 120_000;

export type Harness = AsyncDisposable & {
  url(): string;
  dataDir: string;
  services(): Services;
  tools(): MediaTools;
  speech: FakeSpeech;
  /** Advances the server's clock. */
  advance(milliseconds: number): void;
  /** Creates an account with a key. */
  user(credits?: number): Promise<Client>;
  /** A client without a key. */
  nobody: Client;
  grant(user: Client, credits: number): Promise<void>;
  /** Lists the types of the entity's events, oldest first, with `previous_state` if they have one. */
  events(entityId: string): Promise<string[]>;
  /** Resolves when no job waits or runs and all deletions are complete. */
  idle(): Promise<void>;
  /**
   * Lists the files and folders in the data folder with this ID in their path, without deleted ones that the trash
   * keeps.
   */
  leftovers(id: string): Promise<string[]>;
  /** Makes renders wait before they encode. */
  holdRenders(): Hold;
  /** Holds all writes until they are released; `waiting` resolves when this many are held. */
  holdWrites(): { waiting(count: number): Promise<void>; release(): void };
  /** The disk that alerts watch, because the machine's own may be almost full. */
  disk: { freeBytes: number; totalBytes: number };
  /** Restarts the server on the same folder; `change` can modify the database in between. */
  restart(change?: (store: Store) => Promise<unknown>): Promise<void>;
  /** All log lines. */
  log: string[];
  /** Log lines of level error. */
  errors: string[];
};

/** Hashes without the cost of a hash. Each hash has its own cost, so that it also verifies quickly. */
export const createQuickPasswords = () => createPasswords({ cost: { memoryCost: 8, timeCost: 1 } });

export type HarnessOptions = Pick<ServerOverrides, "timeSliceMs" | "drillCommand"> & {
  configuration?: string;
  sharesChild?: boolean;
  isTimeConfirmed?: boolean;
};

/**
 * Starts a server: `await using server = await harness()`. `settings` are environment variables without the prefix,
 * `configuration` is the text of a configuration file. `sharesChild`: the jobs share a child process, for tests of
 * other things than jobs. It cannot read a media folder outside of the data folder. `isTimeConfirmed`: each time is
 * confirmed at once, unlike in operation.
 */
export async function harness(
  settings: Record<string, string> = {},
  { configuration = "", sharesChild = false, isTimeConfirmed = true, ...turns }: HarnessOptions = {},
): Promise<Harness> {
  const folder = await temporaryFolder();
  const speech = fakeSpeech();
  const lines: string[] = [];
  const errors: string[] = [];
  let offset = 0;
  const disk = { freeBytes: 500e9, totalBytes: 1000e9 };
  const readDisk = async () => ({ ...disk, reserveBytes: 2e9, isLow: false });
  const now = () => Date.now() + offset;
  const replacements: ServerOverrides = {
    speech,
    now,
    readDisk,
    ...(isTimeConfirmed ? { confirmedNow: now } : {}),
    ...turns,
  };
  const env = {
    DATA_DIR: folder.path,
    PORT: "0",
    FFMPEG: BUNDLED_FFMPEG,
    RATE_LIMIT: "0",
    PREVIEWS: "on_opening",
    ...settings,
  };
  // A separate file, so that settings of an installed server do not apply.
  const file = join(folder.path, "settings.toml");
  await Bun.write(file, configuration);
  const config = await loadConfig({
    file,
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [`OFFCUT_${name}`, value])),
    flags: {},
  });
  const log = createLog(
    (line) => {
      lines.push(line);
      if (line.includes('"level":"error"')) errors.push(line);
    },
    false,
    config.logLevel,
  );
  await writeMigratedDatabase(join(folder.path, DATABASE_NAME));
  let sharedChild: ReturnType<typeof createSharedChild> | undefined;
  const start = async () => {
    const started = await startServer(config, log, replacements);
    started.tools.jobCommand = await bundledJobCommand();
    if (sharesChild) sharedChild = createSharedChild(started.tools, [folder.path]);
    started.tools.sharedChild = sharedChild;
    started.services.passwords = createQuickPasswords();
    return started;
  };
  let server: RunningServer = await start();
  const stop = async () => {
    await server.stop();
    await sharedChild?.end();
    replaceSharedChildren();
  };
  const url = () => `http://127.0.0.1:${server.port}`;

  return {
    url,
    dataDir: folder.path,
    services: () => server.services,
    tools: () => server.tools,
    speech,
    disk,
    log: lines,
    errors,
    advance: (milliseconds) => {
      offset += milliseconds;
    },
    user: async (credits = 1_000) => {
      const { store } = server.services;
      const id = newId();
      const email = `${id}@example.test`;
      await store.write(async (tx) => {
        await insertUser(tx, { id, email, created_at: Date.now() });
        if (credits > 0) {
          const grant = {
            id: newId(),
            workspace_id: id,
            type: "grant" as const,
            delta: credits,
            created_at: Date.now(),
          };
          await insertLedgerEntry(tx, grant);
        }
      });
      const { key } = await createApiKey(server.services, { email, name: "test" });
      return createClient(url, key, id);
    },
    nobody: createClient(url, null, ""),
    grant: async (user, credits) => {
      await grantCredits(server.services, { email: `${user.userId}@example.test`, credits });
    },
    events: async (entityId) =>
      (await listEntityEvents(server.services.store.read, entityId)).map((event) =>
        event.data.previous_state ? `${event.type} from ${event.data.previous_state}` : event.type,
      ),
    idle: async () => {
      const { store } = server.services;
      await until("the end of all jobs", async () => {
        const open = await store.read.all(
          sql`SELECT id FROM steps WHERE finished_at IS NULL AND run_after IS NOT NULL`,
        );
        return open.length === 0;
      });
      // A cancelled job ends in the database before its handler returns.
      await server.services.runner.stop();
      server.services.runner.start();
    },
    leftovers: async (id) =>
      (await readdir(folder.path, { recursive: true })).filter(
        (path) => path.includes(id) && parseTrashName(path.split("/")[1] ?? "") === null,
      ),
    holdRenders: () => {
      const { tools } = server;
      const { encoder } = tools;
      const reached = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      tools.encoder = async () => {
        reached.resolve();
        await held.promise;
        return encoder();
      };
      return {
        reached: reached.promise,
        release: () => {
          tools.encoder = encoder;
          held.resolve();
        },
      };
    },
    holdWrites: () => {
      const { store } = server.services;
      const { write } = store;
      const held = Promise.withResolvers<void>();
      let count = 0;
      store.write = async (work) => {
        count++;
        await held.promise;
        return write(work);
      };
      return {
        waiting: (wanted) => until(`${wanted} writes`, () => count >= wanted).then(() => {}),
        release: () => {
          store.write = write;
          held.resolve();
        },
      };
    },
    restart: async (change) => {
      await stop();
      if (change) {
        const store = await openStore(join(folder.path, "offcut.db"));
        await change(store);
        await store.close();
      }
      server = await start();
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
