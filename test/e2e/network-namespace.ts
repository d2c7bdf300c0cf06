/**
 * Workers in network namespaces of their own, whose links to the head and to Redis are taken down and up. Needs root.
 */
import { readdirSync } from "node:fs";
import type { TestRedis } from "../redis";
import type { Link, WorkerNetwork } from "./cluster";
import type { Server } from "./server";

const IP = Bun.which("ip");
const PREFIX = "offcut-test-";
/** Addresses of private networks, one of four addresses for each link. */
const BLOCK = "10.213";

let links = 0;

function run(...args: string[]): { ok: boolean; text: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([IP ?? "ip", ...args]);
  return { ok: exitCode === 0, text: `${stdout}${stderr}`.trim() };
}

function must(...args: string[]): void {
  const { ok, text } = run(...args);
  if (!ok) throw new Error(`ip ${args.join(" ")}: ${text}`);
}

/** Returns why namespaces are unavailable, or null. Removes those of killed runs. */
export function findNamespaceProblem(): string | null {
  if (process.platform !== "linux" || IP === null) return "there is no ip command";
  for (const name of listNamespaces()) if (!isRunning(name)) run("netns", "del", name);
  const name = `${PREFIX}${process.pid}-probe`;
  const end = `oc${process.pid}p`.slice(0, 15);
  const added = run("netns", "add", name);
  if (!added.ok) return added.text;
  const linked = run("link", "add", end, "type", "veth", "peer", "name", "probe", "netns", name);
  run("netns", "del", name);
  return linked.ok ? null : linked.text;
}

const listNamespaces = (): string[] => {
  try {
    return readdirSync("/run/netns").filter((name) => name.startsWith(PREFIX));
  } catch {
    return [];
  }
};

/** The process that has created a namespace. */
const isRunning = (name: string): boolean => {
  try {
    process.kill(Number(name.slice(PREFIX.length).split("-")[0]), 0);
    return true;
  } catch {
    return false;
  }
};

/** Opens a namespace with one link to the head and one to Redis, which listen on all addresses. */
export async function openNamespace(head: Server, redis: TestRedis): Promise<WorkerNetwork> {
  const name = `${PREFIX}${process.pid}-${links}`;
  must("netns", "add", name);
  try {
    must("-n", name, "link", "set", "lo", "up");
    const [toHead, toRedis] = [openLink(name), openLink(name)];
    return {
      toHead: toHead.link,
      toRedis: toRedis.link,
      head: `http://${toHead.address}:${new URL(head.url()).port}`,
      redis: `redis://${toRedis.address}:${redis.port}`,
      launcher: [IP!, "netns", "exec", name],
      // Its end of each link goes with it, and so does the other one.
      [Symbol.asyncDispose]: async () => must("netns", "del", name),
    };
  } catch (error) {
    run("netns", "del", name);
    throw error;
  }
}

/** Adds a link to a namespace. `address`: that of this side. */
function openLink(name: string): { address: string; link: Link } {
  const n = links++;
  const end = `oc${process.pid}-${n}`.slice(-15);
  const [here, there] = [`${BLOCK}.${n}.1`, `${BLOCK}.${n}.2`];
  const inside = `offcut${n}`;
  must("link", "add", end, "type", "veth", "peer", "name", inside, "netns", name);
  must("addr", "add", `${here}/30`, "dev", end);
  must("link", "set", end, "up");
  must("-n", name, "addr", "add", `${there}/30`, "dev", inside);
  must("-n", name, "link", "set", inside, "up");
  return {
    address: here,
    link: {
      proxy: null,
      partition: () => must("link", "set", end, "down"),
      heal: async () => must("link", "set", end, "up"),
    },
  };
}
