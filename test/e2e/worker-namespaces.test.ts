/**
 * The faults of `worker-faults.test.ts` that need no proxy, with workers in network namespaces: a partition is a link
 * that is down, so that packets are lost and connections break by the time limits of the kernel.
 */
import { test } from "bun:test";
import { isFullSize } from "../full-size";
import { BUNDLED_FFMPEG } from "../http/media";
import { REDIS_SERVER } from "../redis";
import { startCluster } from "./cluster";
import { expectBooks, expectNoLeftovers, type Outcome, RENDER_SECONDS, runRound } from "./fault-rounds";
import { findNamespaceProblem, openNamespace } from "./network-namespace";
import { createKnownCut } from "./numbered-talk";
import { IS_BUNDLED_PASS } from "./offcut";
import { FAULTS, MORE_FAULTS } from "./worker-faults";

const FAULT_COUNT = 30;
const WORKERS = 3;
const TIMEOUT_MS = 3600_000;
const CREDITS = 1_000;
const SETTINGS = { FFMPEG: BUNDLED_FFMPEG };
/** After a restart the head listens on another port, which only a proxy hides. */
const USED = [...FAULTS, ...MORE_FAULTS].filter(({ name, needsProxy }) => !needsProxy && name !== "head killed");

const isWanted = isFullSize && !IS_BUNDLED_PASS && REDIS_SERVER !== null;
const problem = isWanted ? findNamespaceProblem() : null;
if (problem !== null) console.log(`Skipped: faults in network namespaces (${problem}).`);

test.skipIf(!isWanted || problem !== null)(
  `${FAULT_COUNT} seeded faults in network namespaces`,
  async () => {
    await using cluster = await startCluster({
      workers: WORKERS,
      head: { RENDER_STEP_CREDITS: "1", PREVIEWS: "on_opening", HOST: "0.0.0.0", ...SETTINGS },
      worker: SETTINGS,
      redis: ["--bind", "0.0.0.0", "--protected-mode", "no"],
      openNetwork: openNamespace,
    });
    const user = await cluster.head.user(CREDITS, RENDER_SECONDS);
    const cut = await createKnownCut(user);
    const tickets = new Map<string, string>();
    const outcomes: Outcome[] = [];
    const faults = Array.from({ length: FAULT_COUNT }, (_, n) => ({ seed: n + 1, fault: USED[n % USED.length]! }));
    // One list for each worker, and one for shared parts.
    const lanes = Array.from({ length: WORKERS + 1 }, (_, lane) =>
      faults.filter(({ seed, fault }) => (fault.scope === "shared" ? WORKERS : seed % WORKERS) === lane),
    );
    const runLane = async (list: typeof faults, lane: number) => {
      for (const each of list) {
        const targets = [{ worker: lane % WORKERS, faults: [each] }];
        outcomes.push(await runRound({ cluster, user, cut, tickets }, { seed: each.seed, targets }));
      }
    };
    await Promise.all(lanes.map(runLane));
    await expectNoLeftovers(cluster, tickets);
    await expectBooks(cluster, outcomes);
  },
  TIMEOUT_MS,
);
