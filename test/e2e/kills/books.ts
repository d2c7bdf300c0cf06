/**
 * Invariants at the end: jobs have ended, events were delivered once, and each recording, step and payment was booked
 * once.
 */
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { measureByFfmpeg } from "../../ebur128";
import type { Client } from "../../http/client";
import { readNotification } from "../../http/exports";
import { BUNDLED_FFMPEG } from "../../http/media";
import type { Receiver } from "../../http/receiver";
import type { Paged } from "../../http/resources";
import { until } from "../../until";
import { type Clients, LOUDNESS, PATIENCE_SECONDS } from "./actions";
import type { World } from "./moments";
import { ORDER_CREDITS } from "./payments";

/** Waits for the end of all jobs, exports and deliveries. */
export async function settle({ user, other, acknowledged, server }: World): Promise<void> {
  const hasOpen = async (client: Client) => {
    for (const [list, states] of OPEN_STATES)
      for (const state of states)
        if ((await client.must<Paged<object>>("GET", `/${list}?state=${state}&limit=1`)).items.length > 0) return true;
    return false;
  };
  const isSettled = async () => !(await hasOpen(user)) && !(await hasOpen(other));
  await until(`the end of all jobs at ${server.url()}`, isSettled, PATIENCE_SECONDS);
  for (const id of acknowledged.exports) {
    const hasEnded = async () => (await readNotification(user, id)).payload.status !== "pending";
    await until(`the end of export ${id}`, hasEnded, PATIENCE_SECONDS);
    const { status, error_message } = (await readNotification(user, id)).payload;
    if (status === "failed") expect(error_message).toContain("was interrupted");
  }
  await until("the last delivery", () => isAllDelivered(user), PATIENCE_SECONDS);
}

const OPEN_STATES = [
  ["v1/assets", ["processing"]],
  ["v1/cuts", ["pending", "processing"]],
  ["v1/renders", ["pending", "processing"]],
  ["api/v1/pipelines", ["pending", "running"]],
] as const;

async function isAllDelivered(user: Client): Promise<boolean> {
  const endpoints = await user.must<Paged<{ id: string }>>("GET", "/v1/webhook-endpoints");
  for (const { id } of endpoints.items) {
    let cursor: string | null = "";
    while (cursor !== null) {
      const path = `/v1/webhook-endpoints/${id}/deliveries?limit=100${cursor && `&cursor=${cursor}`}`;
      const page: Paged<{ state: string }> = await user.must("GET", path);
      if (page.items.some((delivery) => delivery.state !== "delivered")) return false;
      cursor = page.next_cursor;
    }
  }
  return true;
}

/** Each acknowledged recording has its bytes, and each deleted one is gone. */
export async function checkRecordings({ user, other, acknowledged }: Clients): Promise<void> {
  for (const [id, bytes] of acknowledged.recordings) {
    const { state, download_url } = await user.asset(id);
    expect([id, state]).toEqual([id, "ready"]);
    const stored = await (await fetch(download_url!)).bytes();
    expect([id, Buffer.compare(stored, bytes)]).toEqual([id, 0]);
  }
  for (const id of acknowledged.deleted) expect((await other.call("GET", `/v1/assets/${id}`)).status).toBe(404);
}

/** Renders whose measuring pass was killed have their loudness, and left no files. */
export async function checkLoudRenders({ user, server, side, loud }: World): Promise<void> {
  for (const id of loud.ids) {
    const { state, download_url, warnings } = await user.render(id);
    expect([id, state, warnings]).toEqual([id, "completed", []]);
    const path = join(side, "loud.m4a");
    await Bun.write(path, await fetch(download_url!));
    const { integrated, peak } = await measureByFfmpeg(BUNDLED_FFMPEG, path);
    expect([id, Math.abs(integrated! - LOUDNESS) <= 0.3, peak! <= -1]).toEqual([id, true, true]);
    expect(existsSync(join(server.data, "work", id))).toBe(false);
  }
}

type ReceivedMessage = { endpoint: string; id: string; what: string };

const listMessages = (hook: Receiver): ReceivedMessage[] =>
  hook.received.map(({ path, headers, body }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: { entity_id: string } };
    return { endpoint: path, id: headers.get("webhook-id")!, what: `${type} ${data.entity_id}` };
  });

/** Lists the events that the states of all resources require, as `type entity`. */
async function listDueEvents({ server, user }: World): Promise<string[]> {
  const rows = await server.query<{ kind: string; id: string; state: string }>(
    `SELECT 'asset' AS kind, id, state FROM assets
     WHERE kind = 'source' AND state IN ('ready', 'pending_payment', 'failed') AND workspace_id = ?1
     UNION ALL SELECT 'cut', id, state FROM cuts WHERE workspace_id = ?1
     UNION ALL SELECT 'render', id, state FROM renders WHERE workspace_id = ?1`,
    user.userId,
  );
  return rows.map(({ kind, id, state }) => `${kind}.${state} ${id}`);
}

/**
 * A message may be delivered twice, but with the same ID. Returns the number of events and messages. Stops the server.
 */
export async function checkEvents(world: World, hook: Receiver): Promise<{ events: number; messages: number }> {
  const due = await listDueEvents(world);
  const messages = listMessages(hook);
  for (const endpoint of ["/one", "/two"]) {
    const here = messages.filter((one) => one.endpoint === endpoint);
    const ids = Map.groupBy(here, (one) => one.what);
    expect([...ids].filter(([, all]) => new Set(all.map((one) => one.id)).size !== 1)).toEqual([]);
    expect(due.filter((what) => !ids.has(what))).toEqual([]);
    expect(new Set(here.map((one) => one.id)).size).toBe(ids.size);
    // No resource has two terminal events. (An asset may wait for payment first, but here none does.)
    expect(new Set([...ids.keys()].map((what) => what.split(" ")[1])).size).toBe(ids.size);
  }
  const stored = await world.server.query<{ type: string; entity_id: string }>(
    "SELECT type, entity_id FROM events WHERE workspace_id = ?",
    world.user.userId,
  );
  const received = new Set(messages.filter((one) => one.endpoint === "/one").map((one) => one.what));
  expect(stored.map((event) => `${event.type} ${event.entity_id}`).toSorted()).toEqual([...received].toSorted());
  return { events: due.length, messages: messages.length };
}

/** Each recording, step and payment was booked once. Stops the server. */
export async function checkLedger({ server, user }: World, { credits, orders }: { credits: number; orders: number }) {
  const query = <T>(sql: string) => server.query<T>(sql, user.userId);
  const ready = await query<{ id: string; charge: number }>(
    "SELECT id, charge FROM assets WHERE kind = 'source' AND state = 'ready' AND workspace_id = ?",
  );
  const charges = await query<{ asset_id: string; delta: number }>(
    "SELECT asset_id, delta FROM ledger WHERE type = 'consume_asset' AND workspace_id = ?",
  );
  expect(charges.map((entry) => `${entry.asset_id} ${entry.delta}`).toSorted()).toEqual(
    ready.map((asset) => `${asset.id} ${-asset.charge}`).toSorted(),
  );
  const completed = await query<{ id: string; cost: number }>(
    "SELECT id, credits_cost AS cost FROM steps WHERE state = 'completed' AND processor_name IN ('cut', 'render') AND workspace_id = ?",
  );
  const consumed = await query<{ step_id: string; delta: number }>(
    "SELECT step_id, delta FROM ledger WHERE type = 'consume_step' AND workspace_id = ?",
  );
  expect(consumed.map((entry) => `${entry.step_id} ${entry.delta}`).toSorted()).toEqual(
    completed.map((step) => `${step.id} ${-step.cost}`).toSorted(),
  );
  const topups = await query<{ invoice: string; delta: number }>(
    "SELECT payment_invoice_id AS invoice, delta FROM ledger WHERE type = 'topup' AND workspace_id = ?",
  );
  expect(topups.map(({ invoice, delta }) => `${invoice} ${delta}`).toSorted()).toEqual(
    Array.from({ length: orders }, (_, n) => `in_${n} ${ORDER_CREDITS}`).toSorted(),
  );
  const [sum] = await query<{ total: number }>("SELECT sum(delta) AS total FROM ledger WHERE workspace_id = ?");
  const spent = [...charges, ...consumed].reduce((total, entry) => total - entry.delta, 0);
  expect(sum!.total).toBe(credits + orders * ORDER_CREDITS - spent);
  // Includes recordings that were deleted.
  const twice = "SELECT asset_id FROM ledger WHERE type = 'consume_asset' GROUP BY asset_id HAVING count(*) > 1";
  expect(await server.query(twice)).toEqual([]);
  expect(await server.query("SELECT id FROM holds")).toEqual([]);
}

/**
 * Each completed step of a chain that was not deleted has exactly one output, and nothing is open. Stops the server.
 */
export async function checkPipelines({ server }: World): Promise<{ restarted: number; outputs: number }> {
  const outputs = await server.query<{ subject: string; n: number }>(
    `SELECT s.subject_id AS subject, (SELECT count(*) FROM assets a WHERE s.subject_id IN (a.cut_id, a.render_id)) AS n
     FROM steps s JOIN pipelines p ON p.id = s.pipeline_id
     WHERE p.is_chain AND s.state = 'completed' AND NOT s.output_asset_deleted`,
  );
  expect(outputs.filter(({ n }) => n !== 1)).toEqual([]);
  // Previews are created when no other work is due, and this test does not wait for them.
  const open = await server.query(
    `SELECT id FROM pipelines WHERE finished_at IS NULL
     AND id NOT IN (SELECT pipeline_id FROM steps WHERE processor_name = 'preview')`,
  );
  expect(open).toEqual([]);
  const [restarted] = await server.query<{ n: number }>("SELECT count(*) AS n FROM steps WHERE attempts > 1");
  return { restarted: restarted!.n, outputs: outputs.length };
}
