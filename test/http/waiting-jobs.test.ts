/** A workspace has at most 1,000 cuts and renders that wait. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { addStep } from "../unit/store/test-store";
import { harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import type { ErrorBody } from "./resources";

setDefaultTimeout(PATIENCE_MS);

const MAX_WAITING_JOBS = 1_000;

test("cuts, renders and chains beyond 1,000 waiting ones are 409 until one of them no longer waits; those of others are not", async () => {
  await using server = await harness({}, { sharesChild: true });
  const [anna, bert] = [await server.user(), await server.user()];
  const asset = await anna.ready(await wav(2));
  const existing = await anna.startCut({ asset_id: asset.id });
  await anna.cutEnded(existing.id);
  const { store } = server.services();
  const waiting = { workspaceId: anna.userId, runAfter: Date.now() + 1e9 };
  const steps = await store.write(async (tx) => {
    const ids: string[] = [];
    for (let n = 0; n < MAX_WAITING_JOBS; n++)
      ids.push((await addStep(tx, { ...waiting, name: n % 2 ? "cut" : "render" })).stepId);
    return ids;
  });
  const cut = { asset_id: asset.id, options: { mode: "tight" } };
  const calls: [string, object][] = [
    ["/v1/cuts", cut],
    ["/v1/renders", { asset_id: asset.id }],
    ["/api/v1/pipelines", { input_asset_id: asset.id, steps: [{ processor_name: "cut", params: {} }] }],
  ];
  for (const [path, json] of calls) {
    const refused = await anna.call<ErrorBody & { code: string }>("POST", path, { json });
    expect([path, refused.status, refused.body.error?.code ?? refused.body.code]).toEqual([path, 409, "conflict"]);
  }
  expect((await anna.call("POST", "/v1/cuts", { json: { asset_id: asset.id } })).status).toBe(200);

  const other = await bert.ready(await wav(2));
  expect((await bert.cutEnded((await bert.startCut({ asset_id: other.id })).id)).state).toBe("completed");

  const [one] = steps;
  await store.write((tx) => tx.run(sql`UPDATE steps SET state = 'cancelled', finished_at = 1 WHERE id = ${one}`));
  expect((await anna.cutEnded((await anna.startCut(cut)).id)).state).toBe("completed");
});
