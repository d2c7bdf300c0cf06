/**
 * Renders that faults break: injecting them, and checking that each render took effect once and nothing stays behind.
 */
import { expect } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fullOr, isFullSize } from "../full-size";
import type { Client } from "../http/client";
import type { Cut, Render } from "../http/resources";
import { createRandom } from "../random";
import { until } from "../until";
import type { Cluster } from "./cluster";
import { findRenderProblems } from "./numbered-talk";
import type { Fault } from "./worker-faults";

/** A render that several faults in a row interrupt, on a busy machine. */
export const RENDER_SECONDS = 180;
/** Faults begin up to this percentage of the progress. */
const MAX_SHARE = fullOr(90, 40);

export type SeededFault = { seed: number; fault: Fault };
/** `targets`: lists of faults. Those of one list run one after the other, in parallel with the other lists. */
export type Round = { seed: number; targets: { worker: number; faults: SeededFault[] }[] };
export type Outcome = { render: string; seconds: number; names: string[] };

/** `tickets`: the links that Redis has carried, by execution. */
export type World = { cluster: Cluster; user: Client; cut: Cut; tickets: Map<string, string> };

/** Renders, injects each fault when its seed says so, repairs it, and checks the render. */
export async function runRound({ cluster, user, cut, tickets }: World, { seed, targets }: Round): Promise<Outcome> {
  const started = performance.now();
  // A unique bitrate, so that no chunk of another render fits, below the source's.
  const json = { asset_id: cut.asset_id, cut_id: cut.id, output: { video_bitrate: 150_000 + 1_000 * seed } };
  const headers = { "Idempotency-Key": `fault-${seed}` };
  const names = targets.flatMap(({ faults }) => faults.map(({ fault }) => fault.name));
  const what = `seed ${seed}, ${names.join(", ")}`;
  const { id } = await persist(`${what}: creation`, () => user.must<Render>("POST", "/v1/renders", { json, headers }));
  const read = () => user.render(id).catch(() => null);
  const breakTarget = async ({ worker, faults }: Round["targets"][number]) => {
    for (const { seed: ownSeed, fault } of faults) {
      const random = createRandom(ownSeed);
      const share = random(MAX_SHARE) / 100;
      await until(
        `${what}: progress of ${share}`,
        async () => {
          const render = await read();
          return render !== null && (render.completed_at !== null || (render.progress ?? 0) >= share);
        },
        RENDER_SECONDS,
      );
      await collectTickets(cluster, tickets);
      const { holdMs, repair } = await fault.inject(cluster, cluster.workers[worker]!, random);
      await Bun.sleep(holdMs);
      await repair();
    }
  };
  await Promise.all(targets.map(breakTarget));
  await expectExact(user, id, what);
  return { render: id, seconds: (performance.now() - started) / 1000, names };
}

/** Waits until a render has ended, and expects the frames of the known cut. */
export async function expectExact(user: Client, id: string, what: string): Promise<void> {
  const ended = await until(
    `${what}: end`,
    async () => {
      const render = await user.render(id).catch(() => null);
      return render?.completed_at ? render : null;
    },
    RENDER_SECONDS,
  );
  expect([what, ended.state, ended.error_message]).toEqual([what, "completed", null]);
  const bytes = await persist(`${what}: download`, () => download(user, id));
  expect([what, ...(await findRenderProblems(bytes))]).toEqual([what]);
}

/** Repeats a call that fails while the head restarts. An answer that says the call itself is wrong ends it. */
const persist = <T extends object>(what: string, call: () => Promise<T>): Promise<T> =>
  until(
    what,
    () =>
      call().catch((error: Error) => {
        if (/: 4(00|04|22) /.test(error.message)) throw error;
        return null;
      }),
    RENDER_SECONDS,
  );

async function download(user: Client, id: string): Promise<Uint8Array> {
  const response = await fetch((await user.render(id)).download_url!);
  if (!response.ok) throw new Error(`download: ${response.status}`);
  return await response.bytes();
}

const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** Remembers the links that Redis carries now. It stores an ID and a link for each ticket. */
async function collectTickets({ redis }: Cluster, tickets: Map<string, string>): Promise<void> {
  const names = await listTicketKeys(redis).catch(() => []);
  for (const name of names) {
    const data = await redis.client.hget(name, "data").catch(() => null);
    if (data === null) continue;
    const ticket = JSON.parse(data) as { execution: string; url: string };
    expect(Object.keys(ticket)).toEqual(["execution", "url"]);
    expect(ticket.url).toMatch(/^http:[/][/][^/]+[/]workers[/]executions[/][0-9a-f-]{36}[?]signature=[\w-]+$/);
    tickets.set(ticket.execution, ticket.url);
  }
}

const listTicketKeys = async ({ client }: Cluster["redis"]): Promise<string[]> => {
  // A command to a server that does not answer would wait for it.
  if (client.status !== "ready") return [];
  return (await client.keys("bull:offcut-worker-*")).filter((name) => /:[0-9a-f-]{36}$/.test(name));
};

/**
 * The head keeps nothing of renders that have ended, Redis has no ticket, and no link works; workers keep folders of
 * interrupted executions for later ones, up to a limit.
 */
export async function expectNoLeftovers(
  { head, workers, redis }: Cluster,
  tickets: Map<string, string>,
): Promise<void> {
  await until("empty work folders of the head", async () => (await list(join(head.data, "work"))).length === 0);
  for (const { data } of workers) {
    await until("empty execution folders", async () => (await list(join(data, "executions"))).length === 0);
    expect((await list(join(data, "work"))).length).toBeLessThanOrEqual(16);
  }
  await until("no ticket in Redis", async () => (await listTicketKeys(redis)).length === 0, RENDER_SECONDS);
  // In CI, each may have ended before it was observed.
  if (isFullSize) expect(tickets.size).toBeGreaterThan(0);
  for (const url of tickets.values()) {
    const { pathname, search } = new URL(url);
    const body = JSON.stringify({ workerId: crypto.randomUUID(), bootId: crypto.randomUUID() });
    const headers = { "Content-Type": "application/json" };
    const started = await fetch(`${head.url()}${pathname}/start${search}`, { method: "POST", headers, body });
    expect(started.status).toBe(404);
  }
}

/** One event and one charge for each render, and no failed start. The server is stopped for it. */
export async function expectBooks({ head }: Cluster, outcomes: Outcome[]): Promise<void> {
  const events = await head.query<{ type: string; entity_id: string }>(
    "SELECT type, entity_id FROM events WHERE type LIKE 'render.%'",
  );
  expect(events.map(({ type, entity_id }) => `${type} ${entity_id}`).toSorted()).toEqual(
    outcomes.map(({ render }) => `render.completed ${render}`).toSorted(),
  );
  const charges = await head.query<{ subject_id: string; delta: number }>(
    "SELECT steps.subject_id, delta FROM ledger JOIN steps ON steps.id = step_id WHERE type = 'consume_step'",
  );
  expect(charges.map(({ subject_id, delta }) => `${subject_id} ${delta}`).toSorted()).toEqual(
    outcomes.map(({ render }) => `${render} -1`).toSorted(),
  );
  expect(await head.query("SELECT id FROM holds")).toEqual([]);
  const wrong = "SELECT id, state, failures FROM steps WHERE state <> 'completed' OR failures > 0";
  expect(await head.query(wrong)).toEqual([]);
}

/** Returns a line with how long renders took. */
export function summarize(outcomes: Outcome[]): string {
  const longest = outcomes.toSorted((a, b) => b.seconds - a.seconds)[0]!;
  const mean = outcomes.reduce((sum, { seconds }) => sum + seconds, 0) / outcomes.length;
  const most = `at most ${longest.seconds.toFixed(1)} s (${longest.names.join(", ")})`;
  return `${outcomes.flatMap(({ names }) => names).length} faults in ${outcomes.length} renders: ${mean.toFixed(1)} s a render on average, ${most}`;
}
