/** Faults between a head, Redis and workers. A seed determines their kinds, times and durations. */
import type { Random } from "../random";
import type { TcpProxy } from "../tcp-proxy";
import type { Cluster, ClusterWorker, Link } from "./cluster";

/** Longer than the head waits for a worker that is silent. */
const LOST_MS = 17_000;

/** Breaks something and returns a function that repairs it. `holdMs`: how long it stays broken. */
type Injection = { holdMs: number; repair(): Promise<void> | void };
type Inject = (cluster: Cluster, worker: ClusterWorker, random: Random) => Promise<Injection> | Injection;

export type Fault = {
  name: string;
  /** The scope that only one fault at a time may break: the network and the process of a worker, or shared parts. */
  scope: "worker" | "shared";
  /** Only a proxy between the machines can do it. */
  needsProxy?: true;
  inject: Inject;
};

const briefly = (random: Random) => 300 + random(2_500);
/** Longer than the lease in half of the cases. */
const perhapsLong = (random: Random) => (random(2) === 0 ? LOST_MS + random(3_000) : briefly(random));

const onProxy =
  (
    which: "toHead" | "toRedis",
    breakIt: (proxy: TcpProxy, random: Random) => unknown,
    getHoldMs: (random: Random) => number,
  ): Inject =>
  async (_, worker, random) => {
    const proxy = getProxy(worker[which]);
    const holdMs = getHoldMs(random);
    await breakIt(proxy, random);
    return { holdMs, repair: () => proxy.heal() };
  };

function getProxy({ proxy }: Link): TcpProxy {
  if (proxy === null) throw new Error("this fault needs a proxy");
  return proxy;
}

const onLink =
  (which: "toHead" | "toRedis", getHoldMs: (random: Random) => number): Inject =>
  async (_, worker, random) => {
    const link = worker[which];
    const holdMs = getHoldMs(random);
    await link.partition();
    return { holdMs, repair: () => link.heal() };
  };

/** The most severe first. */
export const FAULTS: Fault[] = [
  {
    name: "worker frozen past its lease",
    scope: "worker",
    inject: (_, worker, random) => {
      worker.freeze();
      return { holdMs: LOST_MS + random(2_000), repair: () => worker.thaw() };
    },
  },
  {
    name: "worker cut off from the head past its lease",
    scope: "worker",
    inject: onLink("toHead", (random) => LOST_MS + random(2_000)),
  },
  {
    name: "worker killed",
    scope: "worker",
    inject: async (_, worker, random) => {
      await worker.kill();
      return { holdMs: random(2_000), repair: () => worker.start() };
    },
  },
  {
    name: "head killed",
    scope: "shared",
    inject: async (cluster) => {
      await cluster.restartHead();
      return { holdMs: 0, repair: () => {} };
    },
  },
  {
    name: "Redis emptied",
    scope: "shared",
    inject: async ({ redis }) => {
      await redis.client.flushall();
      return { holdMs: 0, repair: () => {} };
    },
  },
  {
    name: "Redis restarted",
    scope: "shared",
    inject: async ({ redis }, _, random) => {
      await redis.kill();
      return { holdMs: briefly(random), repair: () => redis.restart() };
    },
  },
  {
    name: "lossy network between worker and head",
    scope: "worker",
    needsProxy: true,
    inject: onProxy("toHead", (proxy, random) => proxy.lose(20_000 + random(100_000), random), briefly),
  },
  {
    name: "worker cut off from Redis",
    scope: "worker",
    inject: onLink("toRedis", briefly),
  },
  {
    name: "slow network",
    scope: "worker",
    needsProxy: true,
    inject: async (_, worker, random) => {
      const [toHead, toRedis] = [getProxy(worker.toHead), getProxy(worker.toRedis)];
      const ms = 50 + random(250);
      for (const proxy of [toHead, toRedis]) proxy.delay(ms);
      const repair = async () => {
        for (const proxy of [toHead, toRedis]) await proxy.heal();
      };
      return { holdMs: 2 * briefly(random), repair };
    },
  },
  {
    name: "answers of the head lost",
    scope: "worker",
    needsProxy: true,
    inject: onProxy("toHead", (proxy) => proxy.partition("to_client"), briefly),
  },
];

/** Further ones, for full runs. */
export const MORE_FAULTS: Fault[] = [
  {
    name: "worker stopped for a moment",
    scope: "worker",
    inject: (_, worker, random) => {
      worker.freeze();
      return { holdMs: briefly(random), repair: () => worker.thaw() };
    },
  },
  {
    name: "head cut off from Redis",
    scope: "shared",
    inject: ({ headToRedis }, _, random) => {
      headToRedis.partition();
      return { holdMs: perhapsLong(random), repair: () => headToRedis.heal() };
    },
  },
  {
    name: "Redis frozen",
    scope: "shared",
    inject: ({ redis }, _, random) => {
      redis.freeze();
      return { holdMs: perhapsLong(random), repair: () => redis.thaw() };
    },
  },
  {
    name: "worker refused by the head's network",
    scope: "worker",
    needsProxy: true,
    inject: onProxy("toHead", (proxy) => proxy.refuse(), perhapsLong),
  },
  {
    name: "lossy network between worker and Redis",
    scope: "worker",
    needsProxy: true,
    inject: onProxy("toRedis", (proxy, random) => proxy.lose(500 + random(5_000), random), perhapsLong),
  },
  {
    name: "connections of a worker cut",
    scope: "worker",
    needsProxy: true,
    inject: (_, { toHead, toRedis }) => {
      for (const link of [toHead, toRedis]) getProxy(link).cut();
      return { holdMs: 0, repair: () => {} };
    },
  },
];
