import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { findCutById } from "../../src/store/cuts";
import { CUT, chainEnded, RENDER, readChain, startChain, states } from "./chains";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { quiet, video, wav } from "./media";
import { attempt, NO_ID, tryCall } from "./outcome";
import type { AssetDetail, OffsetPage, Paged, Pipeline } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let bert: Client;
let asset: AssetDetail;
let silent: AssetDetail;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  [anna, bert] = [await server.user(), await server.user()];
  asset = await anna.ready(await wav(6), { filename: "talk.wav" });
  silent = await anna.ready(await quiet(3));
});
afterAll(() => server[Symbol.asyncDispose]());

const post = (json: unknown, user = anna) => attempt(user, "POST", "/api/v1/pipelines", json);

describe("creating a pipeline", () => {
  test("returns its steps: the first is due, the others wait", async () => {
    const { status, headers, body } = await anna.call<Pipeline>("POST", "/api/v1/pipelines", {
      json: { input_asset_id: asset.id, steps: [CUT, RENDER] },
    });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`/api/v1/pipelines/${body.id}`);
    expect(body).toMatchObject({
      state: "pending",
      input_asset_id: asset.id,
      input_asset_deleted: false,
      total_credits_reserved: 0,
      created_by: { id: anna.userId },
      started_at: null,
      finished_at: null,
    });
    const common = { state: "pending", input_asset_id: asset.id, output_asset_id: null, error_code: null };
    expect(body.steps).toMatchObject([
      { ...common, step_order: 0, processor_name: "cut", cut_id: expect.any(String), render_id: null, progress: 0 },
      { ...common, step_order: 1, processor_name: "render", cut_id: null, render_id: null, progress: null },
    ]);
    await chainEnded(anna, body.id);
  });

  const steps = (...all: unknown[]) => ({ steps: all });
  const cut = (params: unknown) => steps({ processor_name: "cut", params });
  const render = (params: unknown, ...before: unknown[]) => steps(...before, { processor_name: "render", params });
  test.each<[string, Record<string, unknown>, string]>([
    ["without steps", { steps: undefined }, "422 body.steps"],
    ["of no steps", steps(), "422 body.steps"],
    ["of 11 steps", steps(...Array(11).fill(CUT)), "422 body.steps"],
    ["of an unknown asset", { ...steps(CUT), input_asset_id: NO_ID }, "404 not_found"],
    ["of an invalid asset ID", { ...steps(CUT), input_asset_id: "x" }, "422 body.input_asset_id"],
    ["of an unknown processor", steps({ processor_name: "prepare" }), "422 body.steps.0.processor_name"],
    ["with an unknown property", steps({ ...CUT, name: "x" }), "422 body.steps.0.name"],
    ["with null as parameters", cut(null), "422 body.steps.0.params"],
    ["with an unknown parameter", cut({ speed: 2 }), "422 body.steps.0.params.speed"],
    ["with parameters of another processor", cut({ output: {} }), "422 body.steps.0.params.output"],
    ["with an unknown mode", cut({ options: { mode: "x" } }), "422 body.steps.0.params.options.mode"],
    ["with a long script", cut({ script: "a ".repeat(20_001) }), "422 body.steps.0.params.script"],
    ["with another asset", cut({ asset_id: NO_ID }), "422 body.steps.0.params.asset_id"],
    ["with an unknown format", render({ output: { format: "avi" } }, CUT), "422 body.steps.1.params.output.format"],
    [
      "with an output that the asset does not have",
      render({ output: { resolution: "720p" } }, CUT),
      "422 body.steps.1.params.output.resolution",
    ],
    ["with a cut after a cut", render({ cut_id: NO_ID }, CUT), "422 body.steps.1.params.cut_id"],
    ["with a cut of nobody", render({ cut_id: NO_ID }), "422 body.steps.0.params.cut_id"],
    [
      "with errors in two steps",
      render({ output: { format: "avi" } }, { processor_name: "cut", params: { script: 1 } }),
      "422 body.steps.0.params.script,body.steps.1.params.output.format",
    ],
  ])("%s", async (_, json, expected) => {
    expect(await post({ input_asset_id: asset.id, ...json })).toBe(expected);
  });

  test("takes the ID of the asset in the parameters, in any case", async () => {
    const params = { asset_id: asset.id.toUpperCase() };
    const pipeline = await startChain(anna, asset.id, [{ ...CUT, params }]);
    expect(states(await chainEnded(anna, pipeline.id))).toEqual(["completed", "completed"]);
  });

  test("is done once for an Idempotency-Key", async () => {
    const options = {
      json: { input_asset_id: asset.id, steps: [CUT] },
      headers: { "Idempotency-Key": "once" },
    };
    const ids = await Promise.all(
      [1, 2].map(async () => (await anna.call<Pipeline>("POST", "/api/v1/pipelines", options)).body.id),
    );
    expect(new Set(ids).size).toBe(1);
    const other = { ...options, json: { ...options.json, steps: [RENDER] } };
    expect((await anna.call("POST", "/api/v1/pipelines", other)).status).toBe(422);
    await chainEnded(anna, ids[0]!);
  });

  test("is refused in an archived project, and while the asset is prepared", async () => {
    const { id: archived } = await anna.ready(await wav(2));
    const project = (await anna.asset(archived)).project_id;
    await anna.must("PATCH", `/v1/projects/${project}`, { json: { state: "archived" } });
    expect(await post({ input_asset_id: archived, steps: [CUT] })).toBe("409 conflict");
    const hold = server.speech.hold("analyze");
    const id = await anna.upload(await wav(3));
    await hold.reached;
    expect(await post({ input_asset_id: id, steps: [CUT] })).toBe("409 asset_processing");
    expect(await post({ input_asset_id: id, steps: [RENDER] })).toBe("409 asset_not_ready");
    hold.release();
    await anna.prepared(id);
  });
});

describe("a chain", () => {
  test("renders the cut that it has made, and never that of an earlier request", async () => {
    const earlier = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
    const { id } = await startChain(anna, asset.id);
    const pipeline = await chainEnded(anna, id);
    expect(states(pipeline)).toEqual(["completed", "completed", "completed"]);
    const [cut, render] = pipeline.steps;
    expect(cut!.cut_id).not.toBe(earlier.id);
    expect(await anna.render(render!.render_id!)).toMatchObject({ state: "completed", cut_id: cut!.cut_id });
    expect(await server.events(cut!.cut_id!)).toEqual(["cut.completed"]);
    expect(await server.events(render!.render_id!)).toEqual(["render.completed"]);
    expect(pipeline.steps.map(({ progress }) => progress)).toEqual([1, 1]);
  });

  test("applies the latest cut before a render, and none before the first cut", async () => {
    const { id } = await startChain(anna, asset.id, [
      RENDER,
      CUT,
      { ...CUT, params: { options: { mode: "loose" } } },
      RENDER,
    ]);
    const { steps } = await chainEnded(anna, id);
    const renders = await Promise.all([steps[0]!, steps[3]!].map((step) => anna.render(step.render_id!)));
    expect(renders.map((render) => render.cut_id)).toEqual([null, steps[2]!.cut_id]);
  });

  test("applies a completed cut that is named", async () => {
    const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
    const named = { processor_name: "render", params: { cut_id: cut.id, output: { format: "mp3" } } };
    const { steps } = await chainEnded(anna, (await startChain(anna, asset.id, [named])).id);
    expect((await anna.render(steps[0]!.render_id!)).cut_id).toBe(cut.id);
  });

  test("keeps the edits of a cut that a cut step names", async () => {
    const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
    const [first, ...others] = cut.plan!.segments;
    const segments = others.map(({ start, end }) => ({ start, end }));
    const edited = await anna.must<{ id: string }>("POST", `/v1/cuts/${cut.id}/edits`, { json: { segments } });
    const step = { ...CUT, params: { options: { mode: "loose" }, keep_edits_of: edited.id } };
    const { steps } = await chainEnded(anna, (await startChain(anna, asset.id, [step])).id);
    const { plan } = await anna.cut(steps[0]!.cut_id!);
    expect(plan!.removed.some(({ reason, start }) => reason === "manual" && start <= first!.start)).toBe(true);
    expect(plan!.warnings).toEqual([]);
  });

  test("ends with the step that fails; the later ones stay pending and are no jobs", async () => {
    const { id } = await startChain(anna, silent.id);
    const pipeline = await chainEnded(anna, id);
    expect(states(pipeline)).toEqual(["failed", "failed", "pending"]);
    expect(pipeline.steps[0]).toMatchObject({ error_code: "no_speech", error_message: expect.any(String) });
    expect(pipeline.steps[1]).toMatchObject({ render_id: null, started_at: null, progress: null });
    await server.idle();
  });
});

describe("the outputs of a chain", () => {
  const outputs = async () => {
    const pipeline = await chainEnded(anna, (await startChain(anna, asset.id)).id);
    const [cut, render] = await Promise.all(pipeline.steps.map((step) => anna.asset(step.output_asset_id!)));
    return {
      pipeline,
      cut: cut!,
      render: render!,
      cutId: pipeline.steps[0]!.cut_id!,
      renderId: pipeline.steps[1]!.render_id!,
    };
  };

  test("are assets with the files of the cut and the render", async () => {
    const used = (await anna.must<{ storage_used_bytes: number }>("GET", "/v1/users/me")).storage_used_bytes;
    const { cut, render, cutId, renderId } = await outputs();
    const { plan } = await anna.cut(cutId);
    const common = { state: "ready", project_id: asset.project_id, cuttable: false, upload_url: null };
    const duration_seconds = String(plan!.kept_duration);
    expect(cut).toMatchObject({
      ...common,
      kind: "cut_file",
      type: null,
      extension: "json",
      content_type: "application/json",
      filename: "talk.cut.json",
      duration_seconds,
    });
    const { size_bytes } = await anna.render(renderId);
    const { script, options } = await anna.cut(cutId);
    expect(render).toMatchObject({
      ...common,
      kind: "rendered_video",
      type: "audio",
      extension: "m4a",
      content_type: "audio/mp4",
      filename: "talk.cut.m4a",
      size_bytes,
      duration_seconds,
    });
    const file = await fetch(cut.download_url!);
    expect(file.headers.get("content-length")).toBe(String(cut.size_bytes));
    expect(file.headers.get("content-disposition")).toContain("talk.cut.json");
    expect(await file.json()).toEqual(plan);
    const part = await fetch(cut.download_url!, { headers: { Range: "bytes=0-0" } });
    expect([part.status, await part.text()]).toEqual([206, "{"]);
    const head = await fetch(cut.download_url!, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(cut.size_bytes)]);
    const media = await fetch(render.download_url!);
    expect((await media.arrayBuffer()).byteLength).toBe(size_bytes!);
    // The render and the cut count, their assets do not.
    const after = await anna.must<{ storage_used_bytes: number }>("GET", "/v1/users/me");
    const { basis } = (await findCutById(server.services().store.read, cutId))!;
    const text = [script, JSON.stringify(options), JSON.stringify(plan)].join("");
    const bytes = Buffer.byteLength(text) + Buffer.from(basis!, "base64").length;
    expect(after.storage_used_bytes - used).toBe(size_bytes! + bytes);
    const { items } = await anna.must<Paged<AssetDetail>>("GET", "/v1/assets?limit=100");
    expect(items.every(({ kind }) => kind === "source")).toBe(true);
    expect(await server.events(cut.id)).toEqual([]);
  });

  test("are neither cut nor rendered", async () => {
    const { cut, render } = await outputs();
    for (const { id } of [cut, render]) {
      expect(await tryCall(anna, "POST", "/v1/cuts", { asset_id: id })).toBe("409 conflict");
      expect(await tryCall(anna, "POST", "/v1/renders", { asset_id: id })).toBe("409 asset_not_ready");
      expect(await post({ input_asset_id: id, steps: [CUT] })).toBe("409 conflict");
      expect(await post({ input_asset_id: id, steps: [RENDER] })).toBe("409 asset_not_ready");
    }
  });

  test("are deleted with their cut and render, and without them", async () => {
    const { pipeline, cut, render, cutId, renderId } = await outputs();
    const flags = async () => (await readChain(anna, pipeline.id)).steps.map((step) => step.output_asset_deleted);
    expect(await flags()).toEqual([false, false]);
    await anna.must("DELETE", `/v1/renders/${renderId}`);
    expect(await tryCall(anna, "GET", `/v1/assets/${render.id}`)).toBe("404 not_found");
    expect((await fetch(render.download_url!)).status).toBe(404);
    expect(await flags()).toEqual([false, true]);
    await anna.must("DELETE", `/v1/cuts/${cutId}`);
    expect((await fetch(cut.download_url!)).status).toBe(404);
    expect(await flags()).toEqual([true, true]);

    const other = await outputs();
    await anna.must("DELETE", `/v1/assets/${other.render.id}`);
    await anna.must("DELETE", `/v1/assets/${other.cut.id}`);
    expect((await anna.render(other.renderId)).state).toBe("completed");
    expect((await anna.cut(other.cutId)).state).toBe("completed");
    expect((await readChain(anna, other.pipeline.id)).steps).toMatchObject([
      { output_asset_id: other.cut.id, output_asset_deleted: true },
      { output_asset_id: other.render.id, output_asset_deleted: true },
    ]);
  });

  test("are deleted with their source, whose pipelines stay", async () => {
    const source = await anna.ready(await wav(2));
    const pipeline = await chainEnded(anna, (await startChain(anna, source.id)).id);
    await anna.must("DELETE", `/v1/assets/${source.id}`);
    for (const step of pipeline.steps)
      expect(await tryCall(anna, "GET", `/v1/assets/${step.output_asset_id}`)).toBe("404 not_found");
    const flags = { input_asset_id: source.id, input_asset_deleted: true };
    expect(await readChain(anna, pipeline.id)).toMatchObject({
      ...flags,
      state: "completed",
      steps: [
        { ...flags, output_asset_deleted: true },
        { ...flags, output_asset_deleted: true },
      ],
    });
  });
});

describe("the list", () => {
  test("has the preparations and single cuts and renders too, newest first, by state and asset", async () => {
    const user = await server.user();
    const source = await user.ready(await video(2));
    await user.cutEnded((await user.startCut({ asset_id: source.id })).id);
    const chain = await chainEnded(user, (await startChain(user, source.id)).id);
    const read = (query = "") => user.must<OffsetPage<Pipeline>>("GET", `/api/v1/pipelines${query}`);
    const kinds = (page: OffsetPage<Pipeline>) =>
      page.items.map(({ steps }) => steps.map((step) => step.processor_name).join("+"));
    const all = await read();
    expect(kinds(all)).toEqual(["cut+render", "cut", "prepare"]);
    expect(all).toMatchObject({ total: 3, limit: 20, offset: 0 });
    expect(all.items[0]).toEqual(chain);
    expect(kinds(await read("?limit=1&offset=1"))).toEqual(["cut"]);
    expect((await read("?state=failed")).total).toBe(0);
    expect((await read(`?input_asset_id=${source.id.toUpperCase()}&state=completed`)).total).toBe(3);
    expect((await read(`?input_asset_id=${asset.id}`)).total).toBe(0);
    expect(await attempt(user, "GET", "/api/v1/pipelines?state=x")).toBe("422 query.state");
    expect(await attempt(bert, "GET", `/api/v1/pipelines/${chain.id}`)).toBe("404 not_found");
  });
});

test("no error was logged", () => expect(server.errors).toEqual([]));
