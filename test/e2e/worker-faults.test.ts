/**
 * Renders on three workers while a seed breaks processes, connections and Redis: each render completes once, is exact
 * to the frame and charged once, and leaves nothing behind. At full size several are in flight: one for each worker,
 * whose network and process it breaks, and one that breaks shared parts. In CI the same happens to one render at a
 * time. Then the head and workers are killed while renders use a damaged cache.
 */
import { test } from "bun:test";
import { fullOr, isFullSize } from "../full-size";
import { BUNDLED_FFMPEG } from "../http/media";
import { REDIS_SERVER } from "../redis";
import { runCachedRounds } from "./cached-rounds";
import { startCluster } from "./cluster";
import {
  expectBooks,
  expectNoLeftovers,
  type Outcome,
  RENDER_SECONDS,
  type Round,
  runRound,
  type SeededFault,
  summarize,
  type World,
} from "./fault-rounds";
import { createKnownCut } from "./numbered-talk";
import { IS_BUNDLED_PASS } from "./offcut";
import { FAULTS, MORE_FAULTS } from "./worker-faults";

const WORKERS = 3;
const FAULT_COUNT = fullOr(200, 10);
/** In CI five faults break the same render, because each of its pieces costs the start of a process. */
const FAULTS_PER_RENDER = fullOr(1, 5);
const CACHED_ROUNDS = fullOr(24, 2);
const TIMEOUT_MS = fullOr(3 * 3600_000, 300_000);
const CREDITS = 1_000;
/** It starts ten times faster than the system's ffmpeg. */
const SETTINGS = { FFMPEG: BUNDLED_FFMPEG };

test.skipIf(IS_BUNDLED_PASS || REDIS_SERVER === null)(
  `${FAULT_COUNT} seeded faults`,
  async () => {
    await using cluster = await startCluster({
      workers: WORKERS,
      head: { RENDER_STEP_CREDITS: "1", PREVIEWS: "on_opening", ...SETTINGS },
      worker: SETTINGS,
    });
    const user = await cluster.head.user(CREDITS, RENDER_SECONDS);
    const cut = await createKnownCut(user);
    const tickets = new Map<string, string>();
    const outcomes: Outcome[] = [];
    const runLane = async (world: World, rounds: Round[]) => {
      for (const round of rounds) outcomes.push(await runRound(world, round));
    };
    const world = { cluster, user, cut, tickets };
    await Promise.all(planLanes().map((rounds) => runLane(world, rounds)));
    // Chunks of the renders so far are encoded by workers. These are renders of the head, which keeps a cache.
    await cluster.restartHead({ RENDER_JOBS: "1" });
    outcomes.push(...(await runCachedRounds(world, CACHED_ROUNDS)));

    await expectNoLeftovers(cluster, tickets);
    await expectBooks(cluster, outcomes);
    console.log(summarize(outcomes));
  },
  TIMEOUT_MS,
);

/** Returns the rounds that follow each other; the lists run at the same time. */
function planLanes(): Round[][] {
  const all = isFullSize ? [...FAULTS, ...MORE_FAULTS] : FAULTS;
  const faults = Array.from({ length: FAULT_COUNT }, (_, n) => ({ seed: n + 1, fault: all[n % all.length]! }));
  const isShared = ({ fault }: SeededFault) => fault.scope === "shared";
  const spread = (list: SeededFault[]) =>
    Array.from({ length: WORKERS }, (_, worker) => ({
      worker,
      faults: list.filter((each) => !isShared(each)).filter((_, at) => at % WORKERS === worker),
    }));
  if (isFullSize)
    return [...spread(faults), { worker: 0, faults: faults.filter(isShared) }].map(({ worker, faults: ofLane }) =>
      ofLane.map((each) => ({ seed: each.seed, targets: [{ worker, faults: [each] }] })),
    );
  const rounds: Round[] = [];
  for (let at = 0; at < FAULT_COUNT; at += FAULTS_PER_RENDER) {
    const list = faults.slice(at, at + FAULTS_PER_RENDER);
    rounds.push({ seed: list[0]!.seed, targets: [...spread(list), { worker: 0, faults: list.filter(isShared) }] });
  }
  return [rounds];
}
