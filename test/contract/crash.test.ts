/**
 * `kill -9` of the compiled server at random moments while assets, cuts, renders and chains run, with webhooks and payments. At the end, every
 * terminal state was delivered once to each endpoint, nothing was charged or paid for twice, and the ledger is consistent.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { EVENT_TYPES } from "../../src/domain/webhooks";
import { type Server, startServer } from "../e2e/server";
import { fullOr } from "../full-size";
import type { Client } from "../http/client";
import { video, wav } from "../http/media";
import { type Receiver, receiver } from "../http/receiver";
import type { Asset, Paged } from "../http/resources";
import { sendToLink } from "../http/upload-clients";
import { until } from "../until";
import { ORDER_CREDITS, reportPayment, STRIPE_SETTINGS, storeOrders } from "./crash-payments";

const CRASHES = fullOr(200, 10);
const SEED = Number(process.env.OFFCUT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CREDITS = 10_000;
const CUT_CREDITS = 2;
const RENDER_CREDITS = 3;
const PATIENCE_SECONDS = 120;
const LATEST_KILL_MS = 1_500;
/** One round in so many kills a preparation that runs, however slow the machine is. */
const ROUNDS_PER_PREPARATION = 10;

type Round = {
  killAfterMs: number;
  uploads: boolean;
  cancels: boolean;
  deletes: boolean;
  chains: boolean;
  format: string;
  mode: string;
};

const rounds = fc.record<Round>({
  killAfterMs: fc.noBias(fc.integer({ min: 0, max: LATEST_KILL_MS })),
  uploads: fc.boolean(),
  cancels: fc.boolean(),
  deletes: fc.nat(9).map((n) => n === 0),
  chains: fc.boolean(),
  format: fc.constantFrom("mp3", "m4a", "mp4"),
  mode: fc.constantFrom("tight", "natural", "loose"),
});

/** Sends the requests of a round. The server may be killed at any moment. */
async function trouble(user: Client, round: Round, n: number): Promise<void> {
  if (round.uploads || n === 0) {
    const bytes = (round.format === "mp4" ? await video(1) : await wav(1 + (n % 3))) as Uint8Array<ArrayBuffer>;
    if (n % 2 === 0) await user.upload(bytes);
    else await sendToLink(user, bytes);
  }
  const { items } = await user.must<Paged<Asset>>("GET", "/v1/assets?state=ready&limit=100");
  const asset = items[n % Math.max(1, items.length)];
  if (!asset) return;
  if (round.chains) {
    const options = { mode: round.mode, min_silence_seconds: 1 + n / 1_000 };
    const steps = [
      { processor_name: "cut", params: { options } },
      { processor_name: "render", params: { output: { format: "mp3", audio_bitrate: 64_000 + n } } },
    ];
    await user.must("POST", "/api/v1/pipelines", { json: { input_asset_id: asset.id, steps } });
  }
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

/** Uploads until a recording is probed, and not yet prepared. */
async function untilPreparing(user: Client): Promise<void> {
  await until(
    "a preparation that runs",
    async () => {
      const id = await user.upload(await wav(3));
      const probed = async () => {
        const asset = await user.asset(id);
        return asset.duration_seconds === null && asset.state !== "failed" ? null : asset;
      };
      return (await until("a measured duration", probed, PATIENCE_SECONDS)).state === "processing";
    },
    PATIENCE_SECONDS,
  );
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
      const { items } = await user.must<Paged<object>>("GET", `/${list}?state=${state}&limit=1`);
      if (items.length > 0) return true;
    }
    return false;
  };
  await until(
    `the end of all jobs at ${server.url()}`,
    async () =>
      !(await open("v1/assets", ["processing"])) &&
      !(await open("v1/cuts", ["pending", "processing"])) &&
      !(await open("v1/renders", ["pending", "processing"])) &&
      !(await open("api/v1/pipelines", ["pending", "running"])),
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
    `SELECT 'asset' AS kind, id, state FROM assets
     WHERE kind = 'source' AND state IN ('ready', 'pending_payment', 'failed')
     UNION ALL SELECT 'cut', id, state FROM cuts UNION ALL SELECT 'render', id, state FROM renders`,
  );
  return rows.map(({ kind, id, state }) => `${kind}.${state} ${id}`);
}

test(
  `${CRASHES} crashes, seed ${SEED}`,
  async () => {
    await using server = await startServer({
      WEBHOOKS_ALLOW_LOOPBACK: "true",
      MAX_UPLOADS: "1000",
      CUT_STEP_CREDITS: String(CUT_CREDITS),
      RENDER_STEP_CREDITS: String(RENDER_CREDITS),
      ...STRIPE_SETTINGS,
    });
    await using hook = receiver();
    const user = await server.user(CREDITS, PATIENCE_SECONDS);
    for (const path of ["/one", "/two"]) {
      const json = { url: new URL(path, hook.url).href, event_types: EVENT_TYPES };
      await user.must("POST", "/v1/webhook-endpoints", { json });
    }

    // So that cuts, renders and chains can start in the first round.
    await user.ready(await wav(2));
    await storeOrders(server, user.userId, CRASHES);
    await server.start();

    let cutOff = 0;
    const payments: Promise<void>[] = [];
    for (const [n, round] of fc.sample(rounds, { numRuns: CRASHES, seed: SEED }).entries()) {
      const asking = trouble(user, round, n).catch(() => {
        cutOff++;
      });
      payments.push(reportPayment(server, n));
      if (n % ROUNDS_PER_PREPARATION === 1) await untilPreparing(user);
      else await Bun.sleep(round.killAfterMs);
      await server.kill();
      await asking;
      await server.start();
    }
    await Promise.all(payments);
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
      "SELECT id, charge FROM assets WHERE kind = 'source' AND state = 'ready'",
    );
    const charges = await server.query<{ asset_id: string; delta: number }>(
      "SELECT asset_id, delta FROM ledger WHERE type = 'consume_asset'",
    );
    expect(charges.map((entry) => `${entry.asset_id} ${entry.delta}`).toSorted()).toEqual(
      ready.map((asset) => `${asset.id} ${-asset.charge}`).toSorted(),
    );
    const completed = await server.query<{ id: string; cost: number }>(
      "SELECT id, credits_cost AS cost FROM steps WHERE state = 'completed' AND processor_name IN ('cut', 'render')",
    );
    const consumed = await server.query<{ step_id: string; delta: number }>(
      "SELECT step_id, delta FROM ledger WHERE type = 'consume_step'",
    );
    expect(consumed.map((entry) => `${entry.step_id} ${entry.delta}`).toSorted()).toEqual(
      completed.map((step) => `${step.id} ${-step.cost}`).toSorted(),
    );
    const topups = await server.query<{ invoice: string; delta: number }>(
      "SELECT payment_invoice_id AS invoice, delta FROM ledger WHERE type = 'topup'",
    );
    expect(topups.map(({ invoice, delta }) => `${invoice} ${delta}`).toSorted()).toEqual(
      Array.from({ length: CRASHES }, (_, n) => `in_${n} ${ORDER_CREDITS}`).toSorted(),
    );
    const [sum] = await server.query<{ total: number }>("SELECT sum(delta) AS total FROM ledger");
    const spent = [...charges, ...consumed].reduce((total, entry) => total - entry.delta, 0);
    expect(sum!.total).toBe(CREDITS + CRASHES * ORDER_CREDITS - spent);

    // Each completed step of a chain that was not deleted has exactly one output.
    const outputs = await server.query<{ subject: string; n: number }>(
      `SELECT s.subject_id AS subject, (SELECT count(*) FROM assets a WHERE s.subject_id IN (a.cut_id, a.render_id)) AS n
       FROM steps s JOIN pipelines p ON p.id = s.pipeline_id
       WHERE p.is_chain AND s.state = 'completed' AND NOT s.output_asset_deleted`,
    );
    expect(outputs.filter(({ n }) => n !== 1)).toEqual([]);
    // Previews are made when nothing else is to be done, and nobody waits for them here.
    const open = await server.query(
      `SELECT id FROM pipelines WHERE finished_at IS NULL
       AND id NOT IN (SELECT pipeline_id FROM steps WHERE processor_name = 'preview')`,
    );
    expect(open).toEqual([]);
    expect(await server.query("SELECT id FROM holds")).toEqual([]);
    const [restarted] = await server.query<{ n: number }>("SELECT count(*) AS n FROM steps WHERE attempts > 1");
    console.log(
      `crashes: ${CRASHES}, seed ${SEED}; ${due.length} ended, ${messages.length} messages, ${restarted!.n} jobs started again, ${outputs.length} outputs of chains, ${topups.length} payments, ${cutOff} calls cut off`,
    );
    expect(restarted!.n).toBeGreaterThan(0);
  },
  CRASHES * 15_000,
);
