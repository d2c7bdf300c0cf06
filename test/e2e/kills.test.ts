/**
 * Seeded `kill -9` of the compiled server and its commands at random moments: while clients upload, cut, render, pay,
 * delete and export, while webhooks are delivered, a render measures its loudness, and inside backups, off-site
 * backups, pruning, snapshots, starts, migrations and restores. After each kill the folders are checked; at the end,
 * nothing that was acknowledged is lost, every job has ended, and everything was charged, paid and reported once.
 * `OFFCUT_SEED` repeats a run.
 */
import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { EVENT_TYPES } from "../../src/domain/webhooks";
import { fullOr } from "../full-size";
import { wav } from "../http/media";
import { receiver } from "../http/receiver";
import { createRandom, type Random } from "../random";
import { startS3Server } from "../s3-server";
import { type TemporaryFolder, temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { linkExtractedAssets } from "./extracted-assets";
import {
  finishUpload,
  type LoudRenders,
  PATIENCE_SECONDS,
  replaceRecordings,
  sendRequests,
  startUpload,
} from "./kills/actions";
import { checkEvents, checkLedger, checkLoudRenders, checkPipelines, checkRecordings, settle } from "./kills/books";
import { checkBackup, checkCommand, checkDatabase, checkOffsite, checkOrphans } from "./kills/checks";
import {
  createBackup,
  killCommand,
  type Moment,
  OFFSITE,
  RUNNING,
  reach,
  SIDE,
  STARTING,
  type World,
} from "./kills/moments";
import { reportPayment, STRIPE_SETTINGS, storeOrders } from "./kills/payments";
import { IS_BUNDLED_PASS } from "./offcut";
import { askServer, BUNDLED, startServer } from "./server";

/** Each kills the server twice and a command once. */
const ROUNDS = fullOr(100, 7);
const SEED = Number(process.env.OFFCUT_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Samples of this recording are measured for about half a second. */
const LOUD_SECONDS = 120;
const CREDITS = 10_000;
/** Interval of the rounds in which the server is suspended for a while before it is killed. */
const ROUNDS_PER_FREEZE = 5;
const MAX_FREEZE_MS = fullOr(20_000, 1_000);

const SETTINGS = {
  ...BUNDLED,
  WEBHOOKS_ALLOW_LOOPBACK: "true",
  MAX_UPLOADS: "1000",
  CUT_STEP_CREDITS: "2",
  RENDER_STEP_CREDITS: "3",
  BACKUP_KEEP_DAILY: "1",
  BACKUP_KEEP_WEEKLY: "0",
  ...STRIPE_SETTINGS,
};

/** Counts the kills that hit a moment while it lasted, and all others. */
class Score {
  readonly hits = new Map<string, number>();
  kills = 0;
  add({ name }: Moment, isHit: boolean): void {
    this.kills++;
    this.hits.set(name, (this.hits.get(name) ?? 0) + (isHit ? 1 : 0));
  }
}

/** Kills the server during actions of clients and its own work, then a command, and then the server while it starts. */
async function runRound(world: World, n: number, random: Random, score: Score): Promise<void> {
  const { server } = world;
  const [running, starting, side] = [RUNNING, STARTING, SIDE].map((list) => list[n % list.length]!) as [
    Moment,
    Moment,
    (typeof SIDE)[number],
  ];
  const delay = ({ maxDelayMs }: Moment) => random(maxDelayMs + 1);
  const ignore = () => {};
  const asking = [sendRequests(world, random, n), replaceRecordings(world)].map((each) => each.catch(ignore));
  const paying = reportPayment(server, n);
  const uploading = startUpload(world);
  const sideKill = killCommand(world, side, delay(side));
  if (n % ROUNDS_PER_FREEZE === 1) {
    process.kill(server.pid(), "SIGSTOP");
    await Bun.sleep(random(MAX_FREEZE_MS));
    process.kill(server.pid(), "SIGCONT");
  }
  await running.begin(world);
  const isHit = await reach(world, running, delay(running));
  const upload = await uploading;
  await server.kill();
  score.add(running, isHit);
  score.add(side, await sideKill);
  await Promise.all([...asking, upload?.sent]);
  await checkDatabase(world);
  await checkBackup(world);

  await starting.begin(world);
  score.add(starting, await server.startAndKill((ended) => reach(world, starting, delay(starting), ended)));
  const known = await checkDatabase(world);
  await checkBackup(world);
  await checkCommand(world, side);

  await server.start();
  await checkOrphans(world, known);
  if (upload !== null) await finishUpload(world, upload);
  await paying;
}

test.skipIf(IS_BUNDLED_PASS)(
  `${3 * ROUNDS} kills, seed ${SEED}`,
  async () => {
    await using backups = await temporaryFolder();
    await using side = await createSideFolder();
    await using s3 = await startS3Server();
    await using server = await startServer({ ...SETTINGS, BACKUP_TO: backups.path }, s3.env);
    await using hook = receiver();
    const user = await server.user(CREDITS, PATIENCE_SECONDS);
    const other = await server.user(CREDITS, PATIENCE_SECONDS);
    const acknowledged = { recordings: new Map(), deleted: new Set<string>(), exports: new Set<string>() };
    const loud: LoudRenders = { assetId: "", ids: [] };
    const world: World = { server, user, other, acknowledged, loud, backups: backups.path, side: side.path, s3 };
    for (const path of ["/one", "/two"]) {
      const json = { url: new URL(path, hook.url).href, event_types: EVENT_TYPES };
      await user.must("POST", "/v1/webhook-endpoints", { json });
    }
    // Allows cuts, renders and chains to start in the first round.
    const { id } = await user.ready(await wav(2));
    acknowledged.recordings.set(id, await wav(2));
    loud.assetId = (await user.ready(await wav(LOUD_SECONDS))).id;
    await until("the first nightly backup", () => server.log().some(({ event }) => event === "backup.completed"));
    await askServer(server.data, "backup key create", {});
    await storeOrders(server, user.userId, ROUNDS);
    await server.start();

    const random = createRandom(SEED);
    const score = new Score();
    for (let n = 0; n < ROUNDS; n++) await runRound(world, n, random, score);
    await settle(world);
    await checkRecordings(world);
    await checkLoudRenders(world);
    await createBackup(world, backups.path);
    await createBackup(world, OFFSITE);
    await checkOffsite(world);
    const { events, messages } = await checkEvents(world, hook);
    await checkLedger(world, { credits: CREDITS, orders: ROUNDS });
    const { restarted, outputs } = await checkPipelines(world);
    const files = await checkBackup(world);
    const hits = [...score.hits].map(([name, count]) => `${name} ${count}`).join(", ");
    console.log(
      `kills: ${score.kills}, seed ${SEED}; hit: ${hits}; ${events} ended, ${messages} messages, ${restarted} jobs started again, ${outputs} outputs of chains, ${files} files in the newest backup`,
    );
    expect(restarted).toBeGreaterThan(0);
    expect([...score.hits.values()].filter((count) => count > 0).length).toBeGreaterThan(score.hits.size / 2);
  },
  ROUNDS * 60_000,
);

async function createSideFolder(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, "restored"));
  await linkExtractedAssets(join(folder.path, "old"));
  return folder;
}
