/** Rows of the contract: pipelines, their outputs and step prices. */
import { expect } from "bun:test";
import { createApiKey } from "../../../src/work/access/command-accounts";
import { emailOf } from "../../http/accounts";
import { CUT, chainEnded, RENDER, states } from "../../http/chains";
import { type Client, createClient } from "../../http/client";
import { wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import type { AssetDetail, OffsetPage, Pipeline, Project } from "../../http/resources";
import { pipeline, pipelineList } from "../pipeline-schemas";
import { conforms } from "./account-setting";
import { createDashboardFixtures, type DashboardFixtures, type DashboardRow } from "./dashboard-fixtures";

type Started = { as: Client; key: Client; asset: AssetDetail; started: Pipeline };

/** Starts a pipeline of a new user. `key` is the user's, for `/v1`. */
async function start(
  { call, server, user }: DashboardFixtures,
  steps: unknown[] = [CUT, RENDER],
  bytes = wav(2),
): Promise<Started> {
  const as = await user();
  const { key: text } = await createApiKey(server.services(), { email: emailOf(as), name: "k" });
  const key = createClient(server.url, text, as.userId);
  const asset = await key.ready(await bytes);
  const json = { input_asset_id: asset.id, steps };
  const { body } = await call<Pipeline>("POST", "/pipelines", { json, as });
  return { as, key, asset, started: body };
}

/** Keeps cuts from ending while `work` runs. */
async function withHeldCuts(fixtures: DashboardFixtures, work: (started: Started) => Promise<void>): Promise<void> {
  const { runner } = fixtures.server.services();
  const as = await fixtures.user();
  const { key: text } = await createApiKey(fixtures.server.services(), { email: emailOf(as), name: "k" });
  const key = createClient(fixtures.server.url, text, as.userId);
  const asset = await key.ready(await wav(2));
  await runner.stop();
  const json = { input_asset_id: asset.id, steps: [CUT, RENDER] };
  const { body } = await fixtures.call<Pipeline>("POST", "/pipelines", { json, as });
  await work({ as, key, asset, started: body }).finally(() => runner.start());
}

export const pipelineRows: DashboardRow[] = [
  [
    "POST /api/v1/pipelines { input_asset_id, steps: [{ processor_name, params }] } (params are the bodies of the public calls; a render after a cut applies it)",
    async (fixtures) => {
      const { as, key, started } = await start(fixtures);
      conforms(pipeline, started);
      const ended = await chainEnded(as, started.id);
      expect(states(ended)).toEqual(["completed", "completed", "completed"]);
      expect((await key.render(ended.steps[1]!.render_id!)).cut_id).toBe(ended.steps[0]!.cut_id);
    },
  ],
  [
    "GET /api/v1/pipelines, GET …/{id}: { items, total, limit, offset }; each /v1 cut or render is a pipeline of one step",
    async (fixtures) => {
      const { as, key, asset, started } = await start(fixtures);
      await chainEnded(as, started.id);
      await key.cutEnded((await key.startCut({ asset_id: asset.id, script: "alpha" })).id);
      const { body } = await fixtures.call<OffsetPage<Pipeline>>("GET", "/pipelines", { as });
      conforms(pipelineList, body);
      expect(body.items.map(({ steps }) => steps.map((step) => step.processor_name))).toEqual([
        ["cut"],
        ["cut", "render"],
        ["prepare"],
      ]);
      const one = await fixtures.call<Pipeline>("GET", `/pipelines/${started.id}`, { as });
      conforms(pipeline, one.body);
      expect(one.body).toEqual(body.items[1]!);
      expect(await fixtures.getOutcome("GET", `/pipelines/${started.id}`, { as: fixtures.bert })).toBe("404 not_found");
    },
  ],
  [
    "GET /api/v1/pipelines?is_open=true lists those that run or wait, false those that have ended; input_asset_name is the file name",
    async (fixtures) => {
      await withHeldCuts(fixtures, async ({ as, asset, started }) => {
        const list = async (open: boolean) =>
          (await fixtures.call<OffsetPage<Pipeline>>("GET", `/pipelines?is_open=${open}`, { as })).body;
        expect(await list(true)).toMatchObject({
          total: 1,
          items: [{ id: started.id, input_asset_name: asset.filename }],
        });
        expect((await list(false)).items.map(({ steps }) => steps[0]!.processor_name)).toEqual(["prepare"]);
        const wrong = "422 validation_error query.is_open";
        expect(await fixtures.getOutcome("GET", "/pipelines?is_open=yes", { as })).toBe(wrong);
      });
    },
  ],
  [
    "Chained outputs are registered as assets of their kind, deleted with their cut or render",
    async (fixtures) => {
      const { as, key, started } = await start(fixtures);
      const { steps } = await chainEnded(as, started.id);
      const outputs = await Promise.all(steps.map((step) => key.asset(step.output_asset_id!)));
      expect(outputs.map(({ kind, state }) => [kind, state])).toEqual([
        ["cut_file", "ready"],
        ["rendered_video", "ready"],
      ]);
      // With the cut goes its render.
      await key.must("DELETE", `/v1/cuts/${steps[0]!.cut_id}`);
      for (const { id } of outputs)
        expect(await fixtures.getOutcome("GET", `/assets/${id}`, { as })).toBe("404 not_found");
      const { body } = await fixtures.call<Pipeline>("GET", `/pipelines/${started.id}`, { as });
      expect(body.steps.map((step) => step.output_asset_deleted)).toEqual([true, true]);
    },
  ],
  [
    "Cancelling a pipeline cancels its render, and fails its cut with cancelled; later steps stay pending",
    (fixtures) =>
      withHeldCuts(fixtures, async ({ as, key, started }) => {
        const path = `/pipelines/${started.id}/cancel`;
        const { status, body } = await fixtures.call<Pipeline>("POST", path, { as });
        expect(status).toBe(200);
        conforms(pipeline, body);
        expect(states(body)).toEqual(["cancelled", "cancelled", "pending"]);
        const cutId = started.steps[0]!.cut_id!;
        expect(await key.cut(cutId)).toMatchObject({ state: "failed", error_code: "cancelled" });
        expect(await fixtures.server.events(cutId)).toEqual(["cut.failed"]);
        expect(await fixtures.getOutcome("POST", path, { as })).toBe("409 conflict");
      }),
  ],
  [
    "Retry of a failed or cancelled cut or render step makes a new cut or render for that step and runs on from there; on another state, or of prepare, it is 409",
    async (fixtures) => {
      let held: Started | undefined;
      await withHeldCuts(fixtures, async (started) => {
        held = started;
        await fixtures.call("POST", `/pipelines/${started.started.id}/cancel`, { as: started.as });
      });
      const { as, key, started } = held!;
      const [cut] = started.steps;
      const retry = `/pipelines/${started.id}/steps/${cut!.id}/retry`;
      const { status, body } = await fixtures.call<Pipeline>("POST", retry, { as });
      expect(status).toBe(200);
      conforms(pipeline, body);
      expect(body.steps[0]!.cut_id).not.toBe(cut!.cut_id);
      expect(states(await chainEnded(as, started.id))).toEqual(["completed", "completed", "completed"]);
      expect(await key.cut(cut!.cut_id!)).toMatchObject({ state: "failed", error_code: "cancelled" });
      expect(await fixtures.getOutcome("POST", retry, { as })).toBe("409 conflict");
      const { body: all } = await fixtures.call<OffsetPage<Pipeline>>("GET", "/pipelines", { as });
      const prepare = all.items.at(-1)!;
      const other = `/pipelines/${prepare.id}/steps/${prepare.steps[0]!.id}/retry`;
      expect(await fixtures.getOutcome("POST", other, { as })).toBe("409 conflict");
      expect(await fixtures.getOutcome("POST", `/pipelines/${prepare.id}/cancel`, { as })).toBe("409 conflict");
      const unknown = `/pipelines/${started.id}/steps/${NO_ID}/retry`;
      expect(await fixtures.getOutcome("POST", unknown, { as })).toBe("404 not_found");
    },
  ],
  [
    "last_activity_at moves when the user creates a cut or starts a render: also with a pipeline and with the retry of a step",
    async (fixtures) => {
      const { server, call } = fixtures;
      let held: Started | undefined;
      const read = async ({ as, asset }: Started) =>
        (await call<Project>("GET", `/projects/${asset.project_id}`, { as })).body;
      await withHeldCuts(fixtures, async (started) => {
        held = started;
        server.advance(60_000);
        await call("POST", `/pipelines/${started.started.id}/cancel`, { as: started.as });
      });
      const { as, started } = held!;
      const before = await read(held!);
      const [cut] = started.steps;
      expect((await call("POST", `/pipelines/${started.id}/steps/${cut!.id}/retry`, { as })).status).toBe(200);
      const after = await read(held!);
      expect(Date.parse(after.last_activity_at) - Date.parse(before.last_activity_at)).toBeWithin(60_000, 90_000);
      expect(after.updated_at).toBe(after.last_activity_at);
      server.advance(60_000);
      await chainEnded(as, started.id);
      expect(await read(held!)).toEqual(after);
      server.advance(60_000);
      expect(
        (await call("POST", "/pipelines", { as, json: { input_asset_id: held!.asset.id, steps: [CUT] } })).status,
      ).toBe(201);
      expect((await read(held!)).last_activity_at > after.last_activity_at).toBe(true);
    },
  ],
  [
    "Step prices are held when the pipeline starts, consumed step by step; when they cannot be held, POST of cuts, renders and pipelines is 402 insufficient_credits",
    async () => {
      await using fixtures = await createDashboardFixtures({ CUT_STEP_CREDITS: "400", RENDER_STEP_CREDITS: "500" });
      const { as, asset, started } = await start(fixtures);
      expect(started).toMatchObject({ total_credits_reserved: 900, total_credits_consumed: 0 });
      expect(started.steps.map((step) => step.credits_cost)).toEqual([400, 500]);
      expect((await chainEnded(as, started.id)).total_credits_consumed).toBe(900);
      for (const [path, json] of [
        ["/pipelines", { input_asset_id: asset.id, steps: [CUT] }],
        ["/cuts", { asset_id: asset.id, script: "alpha" }],
        ["/renders", { asset_id: asset.id }],
      ] as const)
        expect(await fixtures.getOutcome("POST", path, { as, json })).toBe("402 insufficient_credits");
    },
  ],
];
