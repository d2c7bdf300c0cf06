/** Ends of pipelines: cancelled, failed, deleted midway, killed. And how they continue. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { createAdmin, startSession } from "./accounts";
import { CUT, chainEnded, RENDER, readChain, startChain, states } from "./chains";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { quiet, wav } from "./media";
import { attempt } from "./outcome";
import type { AssetDetail, OffsetPage, Pipeline } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let user: Client;
let asset: AssetDetail;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  user = await server.user();
  asset = await user.ready(await wav(2));
});
afterAll(async () => {
  expect(server.errors).toEqual([]);
  await server[Symbol.asyncDispose]();
});

const cancel = (id: string) => user.must<Pipeline>("POST", `/api/v1/pipelines/${id}/cancel`);
const retry = ({ id, steps }: Pipeline, n: number) =>
  user.must<Pipeline>("POST", `/api/v1/pipelines/${id}/steps/${steps[n]!.id}/retry`);
const tryRetry = ({ id, steps }: Pipeline, n: number) =>
  attempt(user, "POST", `/api/v1/pipelines/${id}/steps/${steps[n]!.id}/retry`);

/** Starts a chain and returns it while its render runs. `release` makes the render continue. */
async function untilRendering(): Promise<{ chain: Pipeline; release(): void }> {
  const hold = server.holdRenders();
  const { id } = await startChain(user, asset.id);
  await hold.reached;
  return { chain: await readChain(user, id), release: hold.release };
}

const notifications = async (id: string) => {
  const { items } = await user.must<{ items: { type: string; payload: { pipeline_id: string } }[] }>(
    "GET",
    "/api/v1/notifications?limit=100",
  );
  return items.filter(({ payload }) => payload.pipeline_id === id).map(({ type }) => type);
};

describe("cancelling", () => {
  test("a running render", async () => {
    const { chain, release } = await untilRendering();
    expect(states(await cancel(chain.id))).toEqual(["cancelled", "completed", "cancelled"]);
    const renderId = chain.steps[1]!.render_id!;
    expect((await user.render(renderId)).state).toBe("cancelled");
    expect(await server.events(renderId)).toEqual(["render.cancelled"]);
    release();
    await server.idle();
    expect(await server.leftovers(renderId)).toEqual([]);
    expect(await attempt(user, "POST", `/api/v1/pipelines/${chain.id}/cancel`)).toBe("409 conflict");
    expect(await notifications(chain.id)).toEqual([]);
  });

  test("a single render of /v1, and a render cancels its pipeline", async () => {
    await server.services().runner.stop();
    for (const viaPipeline of [true, false]) {
      const render = await user.startRender({ asset_id: asset.id });
      const { items } = await user.must<OffsetPage<Pipeline>>("GET", "/api/v1/pipelines?limit=1");
      const { id } = items[0]!;
      await (viaPipeline ? cancel(id) : user.must("POST", `/v1/renders/${render.id}/cancel`));
      expect(states(await readChain(user, id))).toEqual(["cancelled", "cancelled"]);
      expect((await user.render(render.id)).state).toBe("cancelled");
      expect(await server.events(render.id)).toEqual(["render.cancelled"]);
    }
    server.services().runner.start();
  });

  test("a preparation is refused", async () => {
    const hold = server.speech.hold("analyze");
    const id = await user.upload(await wav(3));
    await hold.reached;
    const { items } = await user.must<OffsetPage<Pipeline>>("GET", `/api/v1/pipelines?input_asset_id=${id}`);
    expect(await attempt(user, "POST", `/api/v1/pipelines/${items[0]!.id}/cancel`)).toBe("409 conflict");
    hold.release();
    await user.prepared(id);
    expect(await attempt(user, "POST", `/api/v1/pipelines/${items[0]!.id}/cancel`)).toBe("409 conflict");
    expect(await tryRetry(items[0]!, 0)).toBe("409 conflict");
  });
});

describe("retrying", () => {
  test("a single cut and render of /v1 makes a new one with the same request", async () => {
    await server.services().runner.stop();
    const cut = await user.startCut({ asset_id: asset.id, script: "alpha bravo", options: { mode: "tight" } });
    const render = await user.startRender({ asset_id: asset.id, output: { format: "mp3", audio_bitrate: 64_000 } });
    const { items } = await user.must<OffsetPage<Pipeline>>("GET", "/api/v1/pipelines?limit=2");
    for (const { id } of items) await cancel(id);
    server.services().runner.start();
    // "An archived project takes no new asset (409 conflict); cuts, renders, reads and deletes go on."
    const setState = (state: string) => user.must("PATCH", `/v1/projects/${asset.project_id}`, { json: { state } });
    await setState("archived");
    const [renders, cuts] = await Promise.all(items.map((one) => retry(one, 0)));
    await setState("active");
    const [renderId, cutId] = [renders!.steps[0]!.render_id!, cuts!.steps[0]!.cut_id!];
    expect([renderId, cutId]).not.toContain(cut.id);
    const { script, options } = cut;
    expect(await user.cutEnded(cutId)).toMatchObject({ state: "completed", script, options });
    expect(await user.renderEnded(renderId)).toMatchObject({ state: "completed", output: render.output });
    // Only chains register outputs.
    expect((await readChain(user, items[0]!.id)).steps[0]!.output_asset_id).toBeNull();
    expect(await tryRetry(items[0]!, 0)).toBe("409 conflict");
  });

  test("a step whose cut or render was deleted: a single one is refused, one of a chain is made again", async () => {
    await server.services().runner.stop();
    const cut = await user.startCut({ asset_id: asset.id, script: "charlie" });
    const { items } = await user.must<OffsetPage<Pipeline>>("GET", "/api/v1/pipelines?limit=1");
    const chain = await startChain(user, asset.id);
    await user.must("DELETE", `/v1/cuts/${cut.id}`);
    await user.must("DELETE", `/v1/cuts/${chain.steps[0]!.cut_id}`);
    server.services().runner.start();
    expect(await tryRetry(items[0]!, 0)).toBe("409 conflict");
    await retry(chain, 0);
    expect(states(await chainEnded(user, chain.id))).toEqual(["completed", "completed", "completed"]);
  });

  test("a render whose cut was deleted is refused", async () => {
    const { chain, release } = await untilRendering();
    await user.must("DELETE", `/v1/cuts/${chain.steps[0]!.cut_id}`);
    release();
    const ended = await readChain(user, chain.id);
    expect(states(ended)).toEqual(["cancelled", "completed", "cancelled"]);
    expect(ended.steps[0]!.output_asset_deleted).toBe(true);
    expect(await tryRetry(chain, 1)).toBe("409 conflict");
    expect(await tryRetry(chain, 0)).toBe("409 conflict");
  });

  test("a running render: the new one does not wait for the old one, whose result is discarded", async () => {
    const { chain, release } = await untilRendering();
    await cancel(chain.id);
    const retried = await retry(chain, 1);
    release();
    expect(states(await chainEnded(user, chain.id))).toEqual(["completed", "completed", "completed"]);
    await server.idle();
    expect((await user.render(chain.steps[1]!.render_id!)).state).toBe("cancelled");
    expect(await server.leftovers(chain.steps[1]!.render_id!)).toEqual([]);
    expect((await user.render(retried.steps[1]!.render_id!)).state).toBe("completed");
  });

  test("a render that was requested again since is refused, while it waits and when it is completed", async () => {
    await server.services().runner.stop();
    const request = { asset_id: asset.id, output: { format: "mp3", audio_bitrate: 96_000 } };
    const first = await user.startRender(request);
    const { items } = await user.must<OffsetPage<Pipeline>>("GET", "/api/v1/pipelines?limit=1");
    await cancel(items[0]!.id);
    const { id } = await user.startRender(request);
    expect(id).not.toBe(first.id);
    expect(await tryRetry(items[0]!, 0)).toBe("409 conflict");
    server.services().runner.start();
    expect((await user.renderEnded(id)).state).toBe("completed");
    expect(await tryRetry(items[0]!, 0)).toBe("409 conflict");
  });

  test("twice at once starts it once", async () => {
    await server.services().runner.stop();
    const chain = await startChain(user, asset.id);
    await cancel(chain.id);
    const outcomes = await Promise.all([tryRetry(chain, 0), tryRetry(chain, 0)]);
    expect(outcomes.toSorted()).toEqual(["200", "409 conflict"]);
    server.services().runner.start();
    await chainEnded(user, chain.id);
  });
});

describe("a step that cannot start", () => {
  /** Changes the database while the cut of a chain is computed, and returns the chain after its end. */
  async function runWith(change: (chain: Pipeline) => Promise<unknown>): Promise<Pipeline> {
    await server.services().runner.stop();
    const chain = await startChain(user, asset.id);
    await change(chain);
    server.services().runner.start();
    return chainEnded(user, chain.id);
  }

  const write = (statement: ReturnType<typeof sql>) => server.services().store.write((tx) => tx.run(statement));

  const workspace = (quota: number | null) =>
    write(sql`UPDATE workspaces SET storage_quota_bytes = ${quota} WHERE id = ${user.userId}`);
  const used = async () => (await user.must<{ storage_used_bytes: number }>("GET", "/v1/users/me")).storage_used_bytes;
  const project = (state: string) => write(sql`UPDATE projects SET state = ${state} WHERE id = ${asset.project_id}`);
  const params = (format: string) =>
    write(sql`UPDATE steps SET params = json_set(params, '$.output.format', ${format})
      WHERE processor_name = 'render' AND params IS NOT NULL AND subject_id IS NULL`);

  test.each<[string, () => Promise<unknown>, () => Promise<unknown>, string]>([
    [
      "the plan of its cut uses up the quota",
      async () => workspace((await used()) + 1),
      () => workspace(null),
      "storage_full",
    ],
    ["the project was archived", () => project("archived"), () => project("active"), "conflict"],
    ["its output is not possible any more", () => params("mp4"), () => params("m4a"), "validation_error"],
  ])("fails with the pipeline when %s, and can be retried afterwards", async (_, breakIt, repair, code) => {
    const chain = await runWith(breakIt);
    await repair();
    expect(states(chain)).toEqual(["failed", "completed", "failed"]);
    expect(chain.steps[1]).toMatchObject({ error_code: code, render_id: null, started_at: null, progress: null });
    expect(await notifications(chain.id)).toEqual(["pipeline_failed"]);
    await retry(chain, 1);
    expect(states(await chainEnded(user, chain.id))).toEqual(["completed", "completed", "completed"]);
    expect(await notifications(chain.id)).toEqual(["pipeline_completed", "pipeline_failed"]);
  });

  test("ends with the asset", async () => {
    const other = await user.ready(await wav(2));
    await server.services().runner.stop();
    const chain = await startChain(user, other.id);
    await user.must("DELETE", `/v1/assets/${other.id}`);
    server.services().runner.start();
    const ended = await chainEnded(user, chain.id);
    expect(states(ended)).toEqual(["cancelled", "cancelled", "pending"]);
    expect(ended).toMatchObject({ input_asset_id: other.id, input_asset_deleted: true });
    expect(await tryRetry(ended, 0)).toBe("409 conflict");
    expect(await notifications(chain.id)).toEqual([]);
  });
});

test("a failed single step, a failed preparation and a completed chain notify; other completed steps do not", async () => {
  const silent = await user.ready(await quiet(2));
  const before = await user.must<{ total: number }>("GET", "/api/v1/notifications");
  const single = await startChain(user, asset.id, [CUT]);
  await chainEnded(user, single.id);
  await user.cutEnded((await user.startCut({ asset_id: silent.id })).id);
  const broken = await user.prepared(await user.upload(new Uint8Array(500)));
  expect(broken.state).toBe("failed");
  const chain = await startChain(user, asset.id, [CUT, RENDER]);
  await chainEnded(user, chain.id);
  const { items, total } = await user.must<{ items: { type: string; payload: object }[]; total: number }>(
    "GET",
    "/api/v1/notifications",
  );
  expect(items.slice(0, total - before.total).map(({ type, payload }) => ({ type, ...payload }))).toMatchObject([
    { type: "pipeline_completed", pipeline_id: chain.id, steps: ["cut", "render"] },
    { type: "pipeline_failed", asset_id: broken.id, failed_step: "prepare", error_code: broken.error_code },
    { type: "pipeline_failed", asset_id: silent.id, failed_step: "cut", error_code: "no_speech" },
  ]);
});

test("a chain continues after the server was killed between two steps", async () => {
  await server.services().runner.stop();
  const chain = await startChain(user, asset.id);
  // As a kill leaves it: running, with the lease of a process that does not exist.
  await server.restart((store) =>
    store.write((tx) =>
      tx.run(sql`UPDATE steps SET state = 'running', attempts = 1, lease_owner = 'x' WHERE id = ${chain.steps[0]!.id}`),
    ),
  );
  const ended = await chainEnded(user, chain.id);
  expect(states(ended)).toEqual(["completed", "completed", "completed"]);
  expect(await server.events(ended.steps[0]!.cut_id!)).toEqual(["cut.completed"]);
});

test("an administrator's list of jobs has the steps whose turn has come", async () => {
  const admin = await startSession(server, await createAdmin(server));
  const listJobs = async () =>
    (await admin.must<OffsetPage<{ name: string; state: string }>>("GET", `/api/v1/admin/jobs?user_id=${user.userId}`))
      .total;
  await server.services().runner.stop();
  const before = await listJobs();
  const chain = await startChain(user, asset.id);
  expect(await listJobs()).toBe(before + 1);
  server.services().runner.start();
  await chainEnded(user, chain.id);
  expect(await listJobs()).toBe(before + 2);
});
