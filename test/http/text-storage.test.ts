/** Scripts, plans, drafts and parameters count as storage. Other texts are limited. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { chainEnded, RENDER } from "./chains";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt, outcome } from "./outcome";
import type { Pipeline } from "./resources";

setDefaultTimeout(PATIENCE_MS);

const used = async (user: Client) =>
  (await user.must<{ storage_used_bytes: number }>("GET", "/v1/users/me")).storage_used_bytes;

describe("the texts of a workspace", () => {
  const QUOTA = 2_000_000;
  const WORDS = "Something to say. ";
  const script = (bytes: number, first: string) => (first + WORDS.repeat(bytes / WORDS.length)).slice(0, bytes);
  const cutStep = (text: string, mode = "natural") => ({
    processor_name: "cut",
    params: { script: text, options: { mode } },
  });
  const start = (user: Client, assetId: string, steps: unknown[]) =>
    user.call<Pipeline>("POST", "/api/v1/pipelines", { json: { input_asset_id: assetId, steps } });

  /** Returns a user with a recording, whose jobs wait. */
  async function waitingUser(server: Harness) {
    const user = await server.user();
    const asset = await user.ready(await wav(2));
    await server.services().runner.stop();
    return { user, asset, before: await used(user) };
  }

  test("count: a chain stores a script once, a cancelled one only that of its cut, a deleted recording none", async () => {
    await using server = await harness({ STORAGE_QUOTA_BYTES: String(QUOTA) }, { sharesChild: true });
    const { user, asset, before } = await waitingUser(server);
    const text = script(90_000, "A");
    const same = await start(user, asset.id, [...Array(9).fill(cutStep(text)), RENDER]);
    expect(outcome(same)).toBe("201");
    expect((await used(user)) - before).toBeWithin(90_000, 93_000);
    const others = Array.from({ length: 5 }, (_, n) => cutStep(script(90_000, String(n))));
    const different = await start(user, asset.id, others);
    expect((await used(user)) - before).toBeWithin(6 * 90_000, 6 * 90_000 + 5_000);
    await user.must("POST", `/api/v1/pipelines/${different.body.id}/cancel`);
    expect((await used(user)) - before).toBeWithin(2 * 90_000, 2 * 90_000 + 4_000);
    // The script of another step is gone; where all steps have the same, nothing is.
    const retry = ({ id, steps }: Pipeline) =>
      attempt(user, "POST", `/api/v1/pipelines/${id}/steps/${steps[0]!.id}/retry`);
    expect(await retry(different.body)).toBe("409 conflict");
    await user.must("POST", `/api/v1/pipelines/${same.body.id}/cancel`);
    expect(await retry(same.body)).toBe("200");
    await user.must("DELETE", `/v1/assets/${asset.id}`);
    expect(await used(user)).toBe(0);
  });

  test("a chain with one script runs to its end, and its cuts have the script", async () => {
    await using server = await harness({}, { sharesChild: true });
    const user = await server.user();
    const asset = await user.ready(await wav(2));
    const [one, two] = ["Nobody says this.", "Nor this."];
    const { id } = (await start(user, asset.id, [cutStep(""), cutStep(one), cutStep(two), cutStep(one)])).body;
    const { steps } = await chainEnded(user, id);
    const ids = steps.flatMap((step) => step.cut_id ?? []);
    const scripts = await Promise.all(ids.map(async (cut) => (await user.cut(cut)).script));
    expect(scripts).toEqual(["", one, two, one].slice(0, scripts.length));
    expect(scripts.length).toBeGreaterThan(1);
  });

  test("cannot exceed the quota, also at the same time; then cuts wait for nothing that does not fit", async () => {
    await using server = await harness({ STORAGE_QUOTA_BYTES: String(QUOTA) }, { sharesChild: true });
    const { user, asset, before } = await waitingUser(server);
    const chains = await Promise.all(
      Array.from({ length: 6 }, (_, k) =>
        start(
          user,
          asset.id,
          Array.from({ length: 5 }, (_, n) => cutStep(script(90_000, `${k}.${n}`))),
        ),
      ),
    );
    const fit = Math.floor((QUOTA - before) / 453_000);
    expect(chains.map(({ status }) => status).toSorted()).toEqual([
      ...Array(fit).fill(201),
      ...Array(6 - fit).fill(409),
    ]);
    expect(await used(user)).toBeLessThanOrEqual(QUOTA);
    const rest = QUOTA - (await used(user));
    const cut = (bytes: number) =>
      user.call("POST", "/v1/cuts", { json: { asset_id: asset.id, script: script(bytes, "B") } });
    const refused = await user.call<{ error: { message: string } }>("POST", "/v1/cuts", {
      json: { asset_id: asset.id, script: "é".repeat(Math.min(rest / 2, 190_000)) },
    });
    expect([rest < 380_000, outcome(refused)]).toEqual([true, "409 conflict"]);
    expect(refused.body.error.message).toContain("This request needs");
    expect(outcome(await cut(Math.min(1_000, rest - 400)))).toBe("201");
  });

  test("an answer that is kept for Idempotency-Key has no second copy of a plan, and is complete when it is repeated", async () => {
    await using server = await harness({}, { sharesChild: true });
    const user = await server.user();
    const asset = await user.ready(await wav(4));
    const { id } = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
    const edit = (key: string) =>
      user.call<{ id: string; plan: object | null }>("POST", `/v1/cuts/${id}/edits`, {
        json: { segments: [{ start: 0, end: 1 }], texts: [{ start: 0, end: 0.5, text: "x".repeat(9_000) }] },
        headers: { "Idempotency-Key": key },
      });
    const [first, again] = [await edit("a"), await edit("a")];
    expect(first.body.plan).toEqual((await user.cut(first.body.id)).plan);
    expect([again.status, again.headers.get("location")]).toEqual([201, first.headers.get("location")]);
    expect(again.body).toEqual(first.body);
    const stored = await server.services().store.read.all<{ body: string }>(sql`SELECT body FROM idempotency`);
    expect(stored.map(({ body }) => body.length < 2_000)).toEqual([true]);
    await user.must("DELETE", `/v1/cuts/${first.body.id}`);
    expect((await edit("a")).body).toEqual({ ...first.body, plan: null });
  });

  test("are limited where they do not count: projects, and what clients say about an upload", async () => {
    await using server = await harness({}, { sharesChild: true });
    const user = await server.user();
    const { id } = await user.project();
    await server.services().store.write((tx) =>
      tx.run(sql`INSERT INTO projects (id, workspace_id, name, state, created_at, updated_at, last_activity_at)
        WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 9999)
        SELECT 'p' || k, workspace_id, 'P', 'active', 1, 1, 1 FROM n, (SELECT workspace_id FROM projects WHERE id = ${id})`),
    );
    expect(outcome(await user.call("POST", "/v1/projects", { json: { name: "One more" } }))).toBe("409 conflict");
    expect(await attempt(user, "POST", "/api/v1/assets/upload-url", { type: "audio" })).toBe("409 conflict");
    await user.must("DELETE", `/v1/projects/${id}`);
    const { id: project_id } = await user.must<{ id: string }>("POST", "/v1/projects", { json: { name: "One more" } });
    const metadata = `filename ${btoa("a.wav")},note ${"a".repeat(4_100)}`;
    const headers = { ...user.tus(), "Upload-Metadata": metadata };
    expect(outcome(await user.call("POST", "/v1/assets", { json: { project_id, size_bytes: 100 }, headers }))).toMatch(
      /^400 bad_request/,
    );
  });

  test("drafts, edited cuts and their plans count and are checked; a waiting cut fails when the quota is reached", async () => {
    await using server = await harness({ STORAGE_QUOTA_BYTES: String(QUOTA) }, { sharesChild: true });
    const user = await server.user();
    const asset = await user.ready(await wav(4));
    const { id } = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
    const before = await used(user);
    const path = `/api/v1/cuts/${id}/draft`;
    const segments = [{ start: 0, end: 1 }];
    const texts = [{ start: 0, end: 0.5, text: "x".repeat(9_000) }];
    const save = (revision: number, body: object) => attempt(user, "PUT", path, { revision, segments, ...body });
    expect(await save(0, { texts })).toBe("200");
    expect((await used(user)) - before).toBeWithin(9_000, 9_200);
    expect(await save(1, { texts: [] })).toBe("200");
    expect((await used(user)) - before).toBeLessThan(200);
    await user.must("DELETE", path);
    expect(await used(user)).toBe(before);
    const { runner } = server.services();
    await runner.stop();
    const waiting = await user.startCut({ asset_id: asset.id, options: { mode: "tight" } });
    await user.open(QUOTA - (await used(user)));
    expect(await save(0, { texts })).toBe("409 conflict");
    expect(outcome(await user.call("POST", `/v1/cuts/${id}/edits`, { json: { segments } }))).toBe("409 conflict");
    runner.start();
    expect(await user.cutEnded(waiting.id)).toMatchObject({ state: "failed", error_code: "storage_full" });
  });
});
