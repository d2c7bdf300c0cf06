/**
 * `kill -9` of the compiled server at random moments while assets, cuts and renders with webhooks run. At the end, every terminal state was
 * delivered once to each endpoint, no asset was charged twice, and the ledger is consistent.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { EVENT_TYPES } from "../../src/domain/webhooks";
import { type Server, startServer } from "../e2e/server";
import type { Client } from "../http/client";
import { video, wav } from "../http/media";
import { type Receiver, receiver } from "../http/receiver";
import type { Asset, Paged } from "../http/resources";
import { until } from "../until";

const CRASHES = process.env.OFFCUT_FULL ? 200 : 20;
const SEED = Number(process.env.OFFCUT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CREDITS = 10_000;
const PATIENCE_SECONDS = 120;
const LATEST_KILL_MS = 1_500;

type Round = {
  killAfterMs: number;
  uploads: boolean;
  cancels: boolean;
  deletes: boolean;
  format: string;
  mode: string;
};

const rounds = fc.record<Round>({
  killAfterMs: fc.noBias(fc.integer({ min: 0, max: LATEST_KILL_MS })),
  uploads: fc.boolean(),
  cancels: fc.boolean(),
  deletes: fc.nat(9).map((n) => n === 0),
  format: fc.constantFrom("mp3", "m4a", "mp4"),
  mode: fc.constantFrom("tight", "natural", "loose"),
});

/** Sends the requests of a round. The server may be killed at any moment. */
async function trouble(user: Client, round: Round, n: number): Promise<void> {
  if (round.uploads || n === 0) await user.upload(round.format === "mp4" ? await video(1) : await wav(1 + (n % 3)));
  const { items } = await user.must<Paged<Asset>>("GET", "/v1/assets?state=ready&limit=100");
  const asset = items[n % Math.max(1, items.length)];
  if (!asset) return;
  // Numbers that no earlier round used, so that each cut and render is new.
  const cut = await user.startCut({
    asset_id: asset.id,
    options: { mode: round.mode, min_silence_seconds: 0.2 + n / 1_000 },
  });
  const format = asset.type === "video" ? round.format : "mp3";
  const render = await user.startRender({ asset_id: asset.id, output: { format, audio_bitrate: 64_000 + n } });
  if (round.cancels) await user.call("POST", `/v1/renders/${render.id}/cancel`);
  if (round.deletes) await user.call("DELETE", `/v1/cuts/${cut.id}`);
}

type ReceivedMessage = { endpoint: string; id: string; what: string };

const listMessages = (hook: Receiver): ReceivedMessage[] =>
  hook.received.map(({ path, headers, body }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: { entity_id: string } };
    return { endpoint: path, id: headers.get("webhook-id")!, what: `${type} ${data.entity_id}` };
  });

async function settled(server: Server, user: Client): Promise<void> {
  const open = async (list: string, states: string[]) => {
    for (const state of states) {
      const { items } = await user.must<Paged<object>>("GET", `/v1/${list}?state=${state}&limit=1`);
      if (items.length > 0) return true;
    }
    return false;
  };
  await until(
    `the end of all jobs at ${server.url()}`,
    async () =>
      !(await open("assets", ["processing"])) &&
      !(await open("cuts", ["pending", "processing"])) &&
      !(await open("renders", ["pending", "processing"])),
    PATIENCE_SECONDS,
  );
}

async function allDelivered(user: Client): Promise<boolean> {
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

/** Lists the events that the states of all resources require, as `type entity`. */
async function dueEvents(server: Server): Promise<string[]> {
  const rows = await server.query<{ kind: string; id: string; state: string }>(
    `SELECT 'asset' AS kind, id, state FROM assets WHERE state IN ('ready', 'pending_payment', 'failed')
     UNION ALL SELECT 'cut', id, state FROM cuts UNION ALL SELECT 'render', id, state FROM renders`,
  );
  return rows.map(({ kind, id, state }) => `${kind}.${state} ${id}`);
}

test(
  `${CRASHES} crashes, seed ${SEED}`,
  async () => {
    await using server = await startServer({ WEBHOOKS_ALLOW_LOOPBACK: "true", MAX_UPLOADS: "1000" });
    await using hook = receiver();
    const user = await server.user(CREDITS, PATIENCE_SECONDS);
    for (const path of ["/one", "/two"]) {
      const json = { url: new URL(path, hook.url).href, event_types: EVENT_TYPES };
      await user.must("POST", "/v1/webhook-endpoints", { json });
    }

    let cutOff = 0;
    for (const [n, round] of fc.sample(rounds, { numRuns: CRASHES, seed: SEED }).entries()) {
      const asking = trouble(user, round, n).catch(() => {
        cutOff++;
      });
      await Bun.sleep(round.killAfterMs);
      await server.kill();
      await asking;
      await server.start();
    }
    await settled(server, user);
    await until("the last delivery", () => allDelivered(user), PATIENCE_SECONDS);

    const due = await dueEvents(server);
    const messages = listMessages(hook);
    for (const endpoint of ["/one", "/two"]) {
      const here = messages.filter((one) => one.endpoint === endpoint);
      const ids = Map.groupBy(here, (one) => one.what);
      // A message may be delivered twice, but with the same ID.
      expect([...ids].filter(([, all]) => new Set(all.map((one) => one.id)).size !== 1)).toEqual([]);
      expect(due.filter((what) => !ids.has(what))).toEqual([]);
      expect(new Set(here.map((one) => one.id)).size).toBe(ids.size);
      // No resource has two terminal events. (An asset may wait for payment first, but here none does.)
      expect(new Set([...ids.keys()].map((what) => what.split(" ")[1])).size).toBe(ids.size);
    }
    const stored = await server.query<{ type: string; entity_id: string }>("SELECT type, entity_id FROM events");
    const received = new Set(messages.filter((one) => one.endpoint === "/one").map((one) => one.what));
    expect(stored.map((event) => `${event.type} ${event.entity_id}`).toSorted()).toEqual([...received].toSorted());

    const ready = await server.query<{ id: string; charge: number }>(
      "SELECT id, charge FROM assets WHERE state = 'ready'",
    );
    const charges = await server.query<{ asset_id: string; delta: number }>(
      "SELECT asset_id, delta FROM ledger WHERE type = 'consume_asset'",
    );
    expect(charges.map((entry) => `${entry.asset_id} ${entry.delta}`).toSorted()).toEqual(
      ready.map((asset) => `${asset.id} ${-asset.charge}`).toSorted(),
    );
    const [sum] = await server.query<{ total: number }>("SELECT sum(delta) AS total FROM ledger");
    expect(sum!.total).toBe(CREDITS - ready.reduce((total, asset) => total + asset.charge, 0));
    expect(await server.query("SELECT id FROM holds")).toEqual([]);
    const [restarted] = await server.query<{ n: number }>("SELECT count(*) AS n FROM steps WHERE attempts > 1");
    console.log(
      `crashes: ${CRASHES}, seed ${SEED}; ${due.length} ended, ${messages.length} messages, ${restarted!.n} jobs started again, ${cutOff} calls cut off`,
    );
    expect(restarted!.n).toBeGreaterThan(0);
  },
  CRASHES * 15_000,
);
