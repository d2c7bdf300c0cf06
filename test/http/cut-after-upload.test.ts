/** Cuts that start by themselves when their recording can be cut. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { putPlannedCut } from "../../src/store/planned-cuts";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt, tryCall } from "./outcome";
import type { Cut, Paged, Project } from "./resources";

setDefaultTimeout(PATIENCE_MS);

type Planned = { mode: string | null; script: string; error_message: string | null };
type OwnProject = Project & { cut_after_upload: { mode: string; language: string | null } | null };

let server: Harness;
beforeAll(async () => {
  server = await harness({ CREDITS_PER_MINUTE: "0", CUT_STEP_CREDITS: "3" }, { sharesChild: true });
});
afterAll(async () => {
  expect(server.errors).toEqual([]);
  await server[Symbol.asyncDispose]();
});

const create = (user: Client, cut_after_upload?: object | null) =>
  user.must<OwnProject>("POST", "/api/v1/projects", { json: { name: "Talks", cut_after_upload } });
const listCuts = async (user: Client, assetId: string) =>
  (await user.must<Paged<Cut>>("GET", `/v1/cuts?asset_id=${assetId}`)).items;
const plannedPath = (assetId: string) => `/api/v1/assets/${assetId}/cut-after-upload`;
const readPlanned = (user: Client, assetId: string) => user.must<Planned>("GET", plannedPath(assetId));
const plan = (user: Client, assetId: string, json: object) => user.must<Planned>("PUT", plannedPath(assetId), { json });

/** Waits until the only cut of a recording has ended. */
const cutEnded = (user: Client, assetId: string) =>
  until("the cut after the upload", async () => {
    const [cut, ...others] = await listCuts(user, assetId);
    expect(others).toEqual([]);
    return cut?.completed_at ? user.must<Cut>("GET", `/v1/cuts/${cut.id}`) : null;
  });

test("a project of the dashboard cuts in its mode and language, one of /v1 does not and shows no setting", async () => {
  const user = await server.user(10);
  const project = await create(user, {});
  expect(project.cut_after_upload).toEqual({ mode: "natural", language: null });
  const path = `/api/v1/projects/${project.id}`;
  const change = async (value: object | null) =>
    (await user.must<OwnProject>("PATCH", path, { json: { cut_after_upload: value } })).cut_after_upload;
  expect(await change({ language: "EN" })).toEqual({ mode: "natural", language: "en" });
  expect(await change({ mode: "tight" })).toEqual({ mode: "tight", language: "en" });
  const id = await user.upload(await wav(4), { projectId: project.id });
  expect((await user.prepared(id)).language).toBe("en");
  const cut = await cutEnded(user, id);
  expect(cut).toMatchObject({ script: "", state: "completed", options: { mode: "tight" } });
  expect(await readPlanned(user, id)).toEqual({ mode: null, script: "", error_message: null });
  expect((await user.must<{ balance: number }>("GET", "/api/v1/credits/balance")).balance).toBe(7);
  expect(await change(null)).toBeNull();

  const plain = await user.project();
  expect(plain).not.toHaveProperty("cut_after_upload");
  expect((await user.must<OwnProject>("GET", `/api/v1/projects/${plain.id}`)).cut_after_upload).toBeNull();
  expect(await tryCall(user, "POST", "/v1/projects", { name: "P", cut_after_upload: {} })).toBe(
    "422 validation_error body.cut_after_upload",
  );
  const other = await user.ready(await wav(2));
  await server.idle();
  expect(await listCuts(user, other.id)).toEqual([]);
});

test("script and mode can be given until the recording can be cut", async () => {
  const user = await server.user(10);
  const { id: projectId } = await create(user, null);
  const analysis = server.speech.hold("analyze");
  const id = await user.upload(await wav(4), { projectId });
  await analysis.reached;
  expect(await readPlanned(user, id)).toEqual({ mode: null, script: "", error_message: null });
  await plan(user, id, { mode: "natural", script: "first" });
  expect(await plan(user, id, { mode: "loose", script: "alpha bravo" })).toMatchObject({ script: "alpha bravo" });
  expect(await attempt(user, "PUT", plannedPath(id), { mode: "fast" })).toBe("422 body.mode");
  expect(await attempt(user, "PUT", plannedPath(id), { mode: "tight", script: "x".repeat(200_001) })).toBe(
    "422 body.script",
  );
  analysis.release();
  expect(await cutEnded(user, id)).toMatchObject({ script: "alpha bravo", options: { mode: "loose" } });
  expect(await attempt(user, "PUT", plannedPath(id), { mode: "tight" })).toBe("409 conflict");
});

test("without credits for it, the cut waits and says why; credits start it once", async () => {
  const user = await server.user(2);
  const { id: projectId } = await create(user, {});
  const id = await user.upload(await wav(4), { projectId });
  await user.prepared(id);
  const planned = await until("the reason", async () => {
    const found = await readPlanned(user, id);
    return found.error_message === null ? null : found;
  });
  expect(planned).toMatchObject({ mode: "natural", error_message: expect.stringContaining("redits") });
  expect(await listCuts(user, id)).toEqual([]);
  // It can still be changed and removed; after that, a cut can no longer be planned.
  const other = await user.upload(await wav(2), { projectId });
  const own = await user.upload(await wav(3), { projectId });
  for (const assetId of [other, own]) await user.prepared(assetId);
  await server.idle();
  expect(await plan(user, id, { mode: "loose", script: "" })).toMatchObject({ mode: "loose" });
  const { disk } = server.services();
  const { isCritical } = disk;
  disk.isCritical = () => true;
  const refused = await attempt(user, "PUT", plannedPath(id), { mode: "tight" });
  const removed = await plan(user, other, { mode: null });
  disk.isCritical = isCritical;
  expect(refused).toBe("503 upstream_unavailable");
  expect(removed).toMatchObject({ mode: null });
  expect(await attempt(user, "PUT", plannedPath(other), { mode: "tight" })).toBe("409 conflict");
  // A cut by hand is made instead of the one that still waits.
  expect(await readPlanned(user, own)).toMatchObject({ mode: "natural" });
  await user.must("POST", "/v1/cuts", { json: { asset_id: own, options: { mode: "manual" } } });
  expect(await readPlanned(user, own)).toMatchObject({ mode: null });
  server.advance(61_000);
  await server.grant(user, 2);
  expect(await cutEnded(user, id)).toMatchObject({ options: { mode: "loose" } });
  expect((await user.must<{ balance: number }>("GET", "/api/v1/credits/balance")).balance).toBe(1);
});

test("of a recording that cannot be prepared, no cut stays planned", async () => {
  const user = await server.user(10);
  const { id: projectId } = await create(user, {});
  const id = await user.upload(new TextEncoder().encode("not a recording".padEnd(100)), { projectId });
  await until("the failure", async () => (await user.asset(id)).state === "failed" || null);
  expect(await readPlanned(user, id)).toMatchObject({ mode: null });
});

test("a cut that was due when the server was killed starts with the next one, and only once", async () => {
  const user = await server.user(10);
  const { id } = await user.ready(await wav(2));
  const own = { workspace_id: user.userId, created_by: user.userId };
  await server.restart((store) =>
    store.write((tx) => putPlannedCut(tx, { asset_id: id, mode: "natural", script: "", ...own })),
  );
  const cut = await cutEnded(user, id);
  await server.restart();
  await server.idle();
  expect((await listCuts(user, id)).map((one) => one.id)).toEqual([cut.id]);
});
