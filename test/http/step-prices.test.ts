import { expect, setDefaultTimeout, test } from "bun:test";
import { CUT, chainEnded, listStepCharges, money, RENDER, readChain, startChain, states } from "./chains";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { quiet, wav } from "./media";
import { attempt, tryCall } from "./outcome";
import type { OffsetPage, Pipeline } from "./resources";

setDefaultTimeout(PATIENCE_MS);

/** Recordings cost nothing, a cut 3 credits and a render 5. */
const priced = () =>
  harness({ CREDITS_PER_MINUTE: "0", CUT_STEP_CREDITS: "3", RENDER_STEP_CREDITS: "5" }, { sharesChild: true });

/** Starts a server with a user and a recording. */
async function withRecording(credits: number, bytes = wav(2)) {
  const server = await priced();
  const user = await server.user(credits);
  return { server, user, asset: await user.ready(await bytes), [Symbol.asyncDispose]: () => close(server) };
}

async function close(server: Harness): Promise<void> {
  expect(server.errors).toEqual([]);
  await server[Symbol.asyncDispose]();
}

test("prices are held when a chain starts, and consumed step by step", async () => {
  await using setting = await withRecording(10);
  const { server, user, asset } = setting;
  const hold = server.holdRenders();
  const { id } = await startChain(user, asset.id);
  expect(await money(server, user)).toEqual({ free: 2, held: 8 });
  await hold.reached;
  expect(await money(server, user)).toEqual({ free: 2, held: 5 });
  const { body } = await user.call<{ holds: unknown[] }>("GET", "/api/v1/credits/balance");
  expect(body).toMatchObject({ balance: 2, total_held: 5, holds: [{ amount: 5, pipeline_id: id }] });
  expect(await readChain(user, id)).toMatchObject({ total_credits_reserved: 8, total_credits_consumed: 3 });
  hold.release();
  expect(await chainEnded(user, id)).toMatchObject({
    state: "completed",
    total_credits_reserved: 8,
    total_credits_consumed: 8,
    steps: [{ credits_cost: 3 }, { credits_cost: 5 }],
  });
  expect(await money(server, user)).toEqual({ free: 2, held: 0 });
  expect(await listStepCharges(user)).toEqual([-3, -5]);
});

test("a cut and a render of /v1 are charged too, an identical request is not", async () => {
  await using setting = await withRecording(10);
  const { server, user, asset } = setting;
  const cut = await user.startCut({ asset_id: asset.id });
  await user.cutEnded(cut.id);
  expect(await money(server, user)).toEqual({ free: 7, held: 0 });
  const render = { asset_id: asset.id, cut_id: cut.id };
  await user.renderEnded((await user.startRender(render)).id);
  expect(await money(server, user)).toEqual({ free: 2, held: 0 });
  expect((await user.startCut({ asset_id: asset.id })).id).toBe(cut.id);
  await user.startRender(render);
  expect(await money(server, user)).toEqual({ free: 2, held: 0 });
  expect(await tryCall(user, "POST", "/v1/cuts", { asset_id: asset.id, script: "x" })).toBe("402 insufficient_credits");
  // "Order of checks: […] state, credits"
  expect(await tryCall(user, "POST", "/v1/renders", { ...render, output: { format: "mp4" } })).toBe(
    "422 validation_error body.output.format",
  );
  const { items } = await user.must<OffsetPage<Pipeline>>("GET", "/api/v1/pipelines");
  expect(items.map((one) => [one.total_credits_reserved, one.total_credits_consumed])).toEqual([
    [5, 5],
    [3, 3],
    [0, 0],
  ]);
});

test("a chain that the balance does not cover is refused, and nothing is held or created", async () => {
  await using setting = await withRecording(7);
  const { server, user, asset } = setting;
  const json = { input_asset_id: asset.id, steps: [CUT, RENDER] };
  expect(await attempt(user, "POST", "/api/v1/pipelines", json)).toBe("402 insufficient_credits");
  expect(await money(server, user)).toEqual({ free: 7, held: 0 });
  expect((await user.must<{ items: unknown[] }>("GET", "/v1/cuts")).items).toEqual([]);
  expect(await attempt(user, "POST", "/api/v1/pipelines", { ...json, steps: [CUT] })).toBe("201");
  await server.idle();
});

test("simultaneous requests hold no credit twice", async () => {
  await using setting = await withRecording(20);
  const { server, user, asset } = setting;
  const json = { input_asset_id: asset.id, steps: [CUT, RENDER] };
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => attempt(user, "POST", "/api/v1/pipelines", json)));
  expect(outcomes.toSorted()).toEqual(["201", "201", ...Array(3).fill("402 insufficient_credits")]);
  await server.idle();
  expect(await money(server, user)).toEqual({ free: 4, held: 0 });
});

test("a failed step and the later ones cost nothing; what was held settles assets that wait", async () => {
  const server = await harness(
    { CREDITS_PER_MINUTE: "6", CUT_STEP_CREDITS: "3", RENDER_STEP_CREDITS: "5" },
    { sharesChild: true },
  );
  await using _ = { [Symbol.asyncDispose]: () => close(server) };
  const user = await server.user(15);
  const asset = await user.ready(await quiet(2));
  const second = await wav(2);
  const { id: waiting } = await user.open(second.byteLength);
  await server.services().runner.stop();
  const { id } = await startChain(user, asset.id);
  expect(await money(server, user)).toEqual({ free: 1, held: 8 });
  await user.patch(waiting, 0, second as Uint8Array<ArrayBuffer>);
  server.services().runner.start();
  const ended = await chainEnded(user, id);
  expect(states(ended)).toEqual(["failed", "failed", "pending"]);
  expect(ended.total_credits_consumed).toBe(0);
  expect((await user.prepared(waiting)).state).toBe("ready");
  expect(await money(server, user)).toEqual({ free: 3, held: 0 });
  expect(await listStepCharges(user)).toEqual([]);
});

test("a cancelled or deleted step releases its hold; a retry holds its price again", async () => {
  await using setting = await withRecording(10);
  const { server, user, asset } = setting;
  await server.services().runner.stop();
  const first = await startChain(user, asset.id);
  await user.must("POST", `/api/v1/pipelines/${first.id}/cancel`);
  expect(await money(server, user)).toEqual({ free: 10, held: 0 });
  const second = await startChain(user, asset.id);
  const retry = `/api/v1/pipelines/${first.id}/steps/${first.steps[0]!.id}/retry`;
  expect(await attempt(user, "POST", retry)).toBe("402 insufficient_credits");
  expect(states(await readChain(user, first.id))).toEqual(["cancelled", "cancelled", "pending"]);
  await user.must("DELETE", `/v1/cuts/${second.steps[0]!.cut_id}`);
  expect(states(await readChain(user, second.id))).toEqual(["cancelled", "cancelled", "pending"]);
  expect(await money(server, user)).toEqual({ free: 10, held: 0 });
  const retried = await user.must<Pipeline>("POST", retry);
  expect(retried).toMatchObject({ state: "pending", finished_at: null, total_credits_reserved: 8 });
  expect(await money(server, user)).toEqual({ free: 2, held: 8 });
  expect(await attempt(user, "POST", retry)).toBe("409 conflict");
  server.services().runner.start();
  expect((await chainEnded(user, first.id)).total_credits_consumed).toBe(8);
  expect(await listStepCharges(user)).toEqual([-3, -5]);
});

test("a retry of the last step reserves only that: what was consumed stays", async () => {
  await using setting = await withRecording(20);
  const { server, user, asset } = setting;
  const hold = server.holdRenders();
  const { id } = await startChain(user, asset.id);
  await hold.reached;
  const cancelled = await user.must<Pipeline>("POST", `/api/v1/pipelines/${id}/cancel`);
  expect(states(cancelled)).toEqual(["cancelled", "completed", "cancelled"]);
  expect(await money(server, user)).toEqual({ free: 17, held: 0 });
  hold.release();
  const [cut, render] = cancelled.steps;
  await user.must("POST", `/api/v1/pipelines/${id}/steps/${render!.id}/retry`);
  const ended = await chainEnded(user, id);
  expect(ended).toMatchObject({ state: "completed", total_credits_reserved: 8, total_credits_consumed: 8 });
  expect(ended.steps[0]).toEqual(cut!);
  expect(ended.steps[1]!.render_id).not.toBe(render!.render_id);
  expect(await listStepCharges(user)).toEqual([-3, -5]);
});

test("the price of a preparation is that of its asset", async () => {
  await using server = await harness({ CREDITS_PER_MINUTE: "10" });
  const user = await server.user(25);
  await user.ready(await wav(2));
  const { items } = await user.must<OffsetPage<Pipeline>>("GET", "/api/v1/pipelines");
  expect(items).toMatchObject([
    { state: "completed", total_credits_reserved: 10, total_credits_consumed: 10, steps: [{ credits_cost: 10 }] },
  ]);
});
