/**
 * Measures response times of reads on a busy server, without a backup and while backups run:
 * `bun test/bench/api/busy.ts [SECONDS]` (default 20 for each). Users read, others upload, event streams are open, and
 * the queue is full. `OFFCUT_FULL=1`: 50 users, 16 uploads and 200 streams instead of 10, 4 and 40, and a larger data
 * folder. Needs ffmpeg and `dist/offcut`. Exit code 1: a request failed, or the 99th percentile with backups is 100 ms
 * or more.
 */
import { mkdtemp, open, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { startFollowers } from "../../e2e/followers";
import { isFullSize } from "../../full-size";
import { type Client, createClient } from "../../http/client";
import { video } from "../../http/media";
import { startOffcut } from "../servers";
import { type BusySize, type BusyUser, createBusyFolder } from "./busy-folder";

const MIB = 1024 ** 2;
const SIZE: BusySize & { uploads: number; streamsPerUser: number; jobs: number } = isFullSize
  ? {
      users: 50,
      projectsPerUser: 2_000,
      recordings: 20,
      recordingBytes: 200 * MIB,
      uploads: 16,
      streamsPerUser: 4,
      jobs: 400,
    }
  : {
      users: 10,
      projectsPerUser: 500,
      recordings: 5,
      recordingBytes: 100 * MIB,
      uploads: 4,
      streamsPerUser: 4,
      jobs: 100,
    };
const SECONDS = Number(process.argv[2] ?? 20);
/** Between two reads of a user. */
const PAUSE_MS = 200;
const MAX_P99_MS = 100;
/** Users with a recording that is rendered. */
const RENDERING_USERS = 4;

const folder = await mkdtemp(join(tmpdir(), "offcut-busy-"));
const dataDir = join(folder, "data");

/** Reads one of several pages after the other, and returns how long each took, in milliseconds. */
async function readPages(users: readonly Client[]): Promise<number[]> {
  const milliseconds: number[] = [];
  const end = performance.now() + SECONDS * 1000;
  const pages = ["/v1/projects?limit=20", "/v1/assets?limit=20", "/v1/users/me", "/v1/renders?limit=20"];
  const read = async (user: Client, first: number) => {
    await Bun.sleep(Math.random() * PAUSE_MS);
    for (let n = first; performance.now() < end; n++) {
      const from = performance.now();
      await user.must("GET", pages[n % pages.length]!);
      milliseconds.push(performance.now() - from);
      await Bun.sleep(PAUSE_MS);
    }
  };
  await Promise.all(users.map(read));
  return milliseconds.sort((a, b) => a - b);
}

/**
 * Returns how long it takes to flush a block to the disk of the data folder, again and again: commits of the database
 * wait for that, too.
 */
async function measureFlushes(): Promise<number[]> {
  const milliseconds: number[] = [];
  const end = performance.now() + SECONDS * 1000;
  await using file = await open(join(folder, "flushed"), "w");
  while (performance.now() < end) {
    const from = performance.now();
    await file.write(new Uint8Array(4096), 0, 4096, 0);
    await file.datasync();
    milliseconds.push(performance.now() - from);
    await Bun.sleep(PAUSE_MS);
  }
  return milliseconds.sort((a, b) => a - b);
}

/** Queues renders, more than end during the measurements. */
async function fillQueue(users: readonly Client[]): Promise<void> {
  const bytes = await video(60);
  await Promise.all(
    users.slice(0, RENDERING_USERS).map(async (user) => {
      const asset = await user.ready(bytes);
      for (let n = 0; n < SIZE.jobs / RENDERING_USERS; n++)
        await user.startRender({ asset_id: asset.id, output: { resolution: "144p", audio_bitrate: 64_000 + n } });
    }),
  );
}

const countWaiting = async (users: readonly Client[]): Promise<number> => {
  let waiting = 0;
  for (const user of users.slice(0, RENDERING_USERS))
    waiting += (await user.must<{ items: object[] }>("GET", "/v1/renders?state=pending&limit=100")).items.length;
  return waiting;
};

/**
 * Backs up to one empty folder after the other until `signal` is aborted, so that the recordings are copied each time.
 * Returns how often.
 */
async function backUp(signal: AbortSignal): Promise<number> {
  let count = 0;
  while (!signal.aborted) {
    const target = join(folder, `backups-${count}`);
    const backup = Bun.spawn([join(import.meta.dir, "../../../dist/offcut"), "backup", target], {
      env: { PATH: process.env.PATH ?? "", OFFCUT_DATA_DIR: dataDir },
      stdout: "ignore",
      stderr: "inherit",
    });
    if ((await backup.exited) !== 0) throw new Error("the backup failed");
    count++;
    await rm(target, { recursive: true });
  }
  return count;
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)]!;
const toRow = (
  what: string,
  milliseconds: readonly number[],
  flushes: readonly number[],
  details: Record<string, unknown>,
) => ({
  what,
  reads: milliseconds.length,
  "median ms": at(milliseconds, 0.5).toFixed(1),
  "p99 ms": at(milliseconds, 0.99).toFixed(1),
  "max ms": milliseconds.at(-1)!.toFixed(1),
  "p99 of flushes ms": at(flushes, 0.99).toFixed(1),
  ...details,
  load: loadavg()[0]!.toFixed(1),
});

const accounts: BusyUser[] = await createBusyFolder(dataDir, SIZE);
const offcut = await startOffcut(dataDir, { OFFCUT_PREVIEWS: "on_opening", OFFCUT_MAX_UPLOADS: "1000" });
const followers = startFollowers();
let uploads: Bun.Subprocess | null = null;
try {
  const users = accounts.map(({ key, userId }) => createClient(() => offcut.url, key, userId, 300));
  const keys = accounts.map(({ key }) => key);
  followers.send({ kind: "follow", url: offcut.url, keys, streamsPerKey: SIZE.streamsPerUser });
  const areOpen = async () => (await followers.report()).streams.every(({ connections }) => connections > 0);
  await fillQueue(users);
  while (!(await areOpen())) await Bun.sleep(100);
  uploads = Bun.spawn(
    [process.execPath, join(import.meta.dir, "busy-uploads.ts"), offcut.url, ...keys.slice(0, SIZE.uploads)],
    { stdout: "ignore", stderr: "inherit" },
  );

  const [before, flushesBefore] = await Promise.all([readPages(users), measureFlushes()]);
  const without = toRow("without a backup", before, flushesBefore, {
    backups: 0,
    waiting: await countWaiting(users),
  });
  const stopping = new AbortController();
  const backingUp = backUp(stopping.signal);
  const [during, flushes] = await Promise.all([readPages(users), measureFlushes()]);
  const waiting = await countWaiting(users);
  stopping.abort();
  console.table([without, toRow("while backups run", during, flushes, { backups: await backingUp, waiting })]);
  const isStreamLost = (await followers.report()).streams.some(({ connections }) => connections !== 1);
  const isUploadLost = uploads.exitCode !== null;
  const problems = [
    ...(at(during, 0.99) < MAX_P99_MS ? [] : [`the 99th percentile is ${MAX_P99_MS} ms or more`]),
    ...(isStreamLost ? ["an event stream was interrupted"] : []),
    ...(isUploadLost ? ["an upload failed"] : []),
  ];
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  uploads?.kill("SIGKILL");
  await followers[Symbol.asyncDispose]();
  await offcut.stop();
  await rm(folder, { recursive: true, force: true });
}
