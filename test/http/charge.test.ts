import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { AppError } from "../../src/domain/errors";
import { readBalance, readTotalHeld } from "../../src/store/credits";
import { insertBillingChoice } from "../../src/store/server-choices";
import { runAdmin } from "../../src/work/access/admin-commands";
import { startSession } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { tryCall } from "./outcome";
import { PRICES } from "./prices";
import type { LedgerEntry, Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

/** Starts a server on which a started minute costs ten credits. */
const expensive = () => harness({ CREDITS_PER_MINUTE: "10" });

async function money(server: Harness, user: Client) {
  const { read } = server.services().store;
  return { free: await readBalance(read, user.userId), held: await readTotalHeld(read, user.userId) };
}

const history = async (user: Client) =>
  (await user.must<Paged<LedgerEntry>>("GET", "/v1/credits/history")).items.map((entry) => [entry.type, entry.delta]);

describe("the charge", () => {
  test("is held as soon as the duration is known and consumed when the asset becomes ready", async () => {
    await using server = await expensive();
    const user = await server.user(25);
    const hold = server.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    await hold.reached;
    expect(await money(server, user)).toEqual({ free: 15, held: 10 });
    expect(await history(user)).toEqual([["grant", 25]]);
    hold.release();
    await user.prepared(id);
    expect(await money(server, user)).toEqual({ free: 15, held: 0 });
    expect(await history(user)).toEqual([
      ["consume_asset", -10],
      ["grant", 25],
    ]);
  });

  test("rounds up to a full minute", async () => {
    await using server = await expensive();
    const user = await server.user(100);
    await user.ready(await wav(61));
    expect(await money(server, user)).toEqual({ free: 80, held: 0 });
  });

  test("is released if the preparation fails", async () => {
    await using server = await expensive();
    const user = await server.user(10);
    server.speech.failNext(new AppError("corrupt_media", "Audio cannot be decoded."));
    const asset = await user.prepared(await user.upload(await wav(4)));
    expect(asset).toMatchObject({ state: "failed", error_code: "corrupt_media", duration_seconds: null });
    expect(asset.error_message).toBe("Audio cannot be decoded.");
    expect(await money(server, user)).toEqual({ free: 10, held: 0 });
    expect(await server.events(asset.id)).toEqual(["asset.failed from processing"]);
  });

  test("is released if the asset is deleted during preparation, and kept if it was ready", async () => {
    await using server = await expensive();
    const user = await server.user(30);
    const kept = await user.ready(await wav(4));
    await user.must("DELETE", `/v1/assets/${kept.id}`);
    expect(await money(server, user)).toEqual({ free: 20, held: 0 });
    const hold = server.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    await hold.reached;
    expect(await money(server, user)).toEqual({ free: 10, held: 10 });
    await user.must("DELETE", `/v1/assets/${id}`);
    expect(await money(server, user)).toEqual({ free: 20, held: 0 });
    expect((await history(user))[0]).toEqual(["consume_asset", -10]);
  });

  test("is refunded once, appears in the history with its asset, and settles waiting assets", async () => {
    await using server = await expensive();
    const user = await server.user(15);
    const paid = await user.ready(await wav(4));
    const waiting = await user.prepared(await user.upload(await wav(3)));
    expect(waiting.state).toBe("pending_payment");
    const refund = () => runAdmin(server.services(), "user refund", { assetId: paid.id });
    const outcomes = await Promise.allSettled([refund(), refund(), refund()]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await user.must("GET", `/v1/assets/${waiting.id}`)).toMatchObject({ state: "ready" });
    const { items } = await user.must<Paged<LedgerEntry>>("GET", "/v1/credits/history");
    expect(items.map(({ type, delta, asset_id }) => [type, delta, asset_id])).toEqual([
      ["consume_asset", -10, waiting.id],
      ["refund", 10, paid.id],
      ["consume_asset", -10, paid.id],
      ["grant", 15, null],
    ]);
    expect(await money(server, user)).toEqual({ free: 5, held: 0 });
  });

  test("ends with billing, also for recordings that wait and are in preparation", async () => {
    await using server = await harness(
      { CREDITS_PER_MINUTE: "10", RENDER_STEP_CREDITS: "3" },
      { configuration: PRICES },
    );
    const user = await server.user(5);
    const other = await server.user(10);
    const waiting = await user.prepared(await user.upload(await wav(4)));
    expect(waiting.state).toBe("pending_payment");
    const bytes = await wav(4);
    const hold = server.speech.hold("analyze");
    const held = await other.upload(bytes);
    await hold.reached;
    expect(await money(server, other)).toEqual({ free: 0, held: 10 });
    const stopped = server.restart((store) => store.write((tx) => insertBillingChoice(tx, "off")));
    hold.release();
    await stopped;

    expect((await user.asset(waiting.id)).state).toBe("ready");
    expect(await server.events(waiting.id)).toEqual([
      "asset.pending_payment from processing",
      "asset.ready from pending_payment",
    ]);
    expect((await other.prepared(held)).state).toBe("ready");
    expect((await other.ready(await wav(61))).cuttable).toBe(true);
    expect(await money(server, user)).toEqual({ free: 5, held: 0 });
    const { free, held: stillHeld } = await money(server, other);
    expect(stillHeld).toBe(0);
    // The stop may have come after the preparation, which was charged then.
    expect([0, 10]).toContain(free);
    expect(await user.must("GET", "/api/v1/billing/prices")).toMatchObject({ items: [] });
    const session = await startSession(server, user);
    expect(await session.call("POST", "/api/v1/billing/checkout", { json: { price_id: "pack-600" } })).toMatchObject({
      status: 409,
      body: { code: "conflict", detail: "Billing is off on this server. Nothing costs credits." },
    });
    expect(await server.nobody.must("GET", "/api/v1/billing")).toEqual({ mode: "off", is_configured: false });
  });

  test("a server without prices charges nothing", async () => {
    await using server = await harness({ CREDITS_PER_MINUTE: "0" });
    const user = await server.user(1);
    expect((await user.ready(await wav(4))).cuttable).toBe(true);
    expect(await history(user)).toEqual([["grant", 1]]);
  });
});

describe("a balance that does not cover the charge", () => {
  test("leaves assets waiting; a grant settles them oldest first, as far as it covers them", async () => {
    await using server = await expensive();
    const user = await server.user(1);
    const bytes = (await wav(4)) as Uint8Array<ArrayBuffer>;
    // Opened before the first one waits for payment: later ones would be refused.
    const opened = await Promise.all([1, 2, 3].map(() => user.open(bytes.length)));
    const ids: string[] = [];
    for (const { id } of opened) {
      await user.patch(id, 0, bytes);
      const asset = await user.prepared(id);
      expect(asset).toMatchObject({
        state: "pending_payment",
        cuttable: false,
        download_url: null,
        duration_seconds: "4",
        error_code: null,
      });
      ids.push(asset.id);
    }
    const states = async () => Promise.all(ids.map(async (id) => (await user.asset(id)).state));
    await server.grant(user, 8);
    expect(await states()).toEqual(["pending_payment", "pending_payment", "pending_payment"]);
    await server.grant(user, 12);
    expect(await states()).toEqual(["ready", "ready", "pending_payment"]);
    expect(await money(server, user)).toEqual({ free: 1, held: 0 });
    await server.grant(user, 9);
    expect(await states()).toEqual(["ready", "ready", "ready"]);
    for (const id of ids) {
      expect(await server.events(id)).toEqual([
        "asset.pending_payment from processing",
        "asset.ready from pending_payment",
      ]);
    }
    expect((await user.asset(ids[0]!)).cuttable).toBe(true);
    expect((await fetch((await user.asset(ids[2]!)).download_url!)).status).toBe(200);
  });

  test("refuses new uploads when no credits are left", async () => {
    await using server = await expensive();
    const user = await server.user(10);
    await user.ready(await wav(4));
    const json = { project_id: (await user.project()).id, size_bytes: 1_000 };
    expect(await tryCall(user, "POST", "/v1/assets", json)).toBe("402 insufficient_credits");
  });

  test("excludes holds: an upload cannot rely on credits that another preparation holds", async () => {
    await using server = await expensive();
    const user = await server.user(10);
    const hold = server.speech.hold("analyze");
    const id = await user.upload(await wav(4));
    await hold.reached;
    const json = { project_id: (await user.project()).id, size_bytes: 1_000 };
    expect(await tryCall(user, "POST", "/v1/assets", json)).toBe("402 insufficient_credits");
    hold.release();
    expect((await user.prepared(id)).state).toBe("ready");
  });

  test("simultaneous uploads spend no credit twice", async () => {
    await using server = await expensive();
    const user = await server.user(25);
    const bytes = await wav(4);
    const ids = await Promise.all(Array.from({ length: 4 }, () => user.upload(bytes)));
    const assets = await Promise.all(ids.map((id) => user.prepared(id)));
    const states = assets.map((asset) => asset.state).toSorted();
    expect(states).toEqual(["pending_payment", "pending_payment", "ready", "ready"]);
    expect(await money(server, user)).toEqual({ free: 5, held: 0 });
    expect((await history(user)).filter(([type]) => type === "consume_asset")).toHaveLength(2);
  });
});
