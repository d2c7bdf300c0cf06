/** Batches of cuts and renders in the tray. */
import { afterEach, beforeAll, expect, test } from "bun:test";
import type { Recording } from "../../../web/pages/project/recording";
import { definePageGlobal, usePageGlobals } from "./page-globals";

usePageGlobals();
let work: typeof import("../../../web/pages/project/batch-work");
let tray: typeof import("../../../web/tray/batches");
beforeAll(async () => {
  work = await import("../../../web/pages/project/batch-work");
  tray = await import("../../../web/tray/batches");
});
afterEach(() => {
  for (const { id } of tray.batches.value) tray.closeBatch(id);
});

const recordings = (...ids: string[]) =>
  ids.map((id) => ({ id, name: id, latest_cut: { id: `cut of ${id}` } }) as Recording & { latest_cut: { id: string } });
const FAILED = { error_code: "no_speech", error_message: "The recording has no speech." };

/** Responds to calls: `post` makes the response to the start of work. */
function respond(post: () => Promise<object> | object, read: object = {}): void {
  definePageGlobal("fetch", async ({ method, url }: Request) => {
    if (method === "POST") return Response.json(await post(), { status: 201 });
    if (url.includes("plan=false") && url.includes("cut%20of")) return Response.json({ script: "", options: {} });
    return Response.json(read);
  });
}

const row = () => tray.batches.value.at(-1)!;

test("a cut that had failed before is a problem of its recording", async () => {
  respond(() => ({ id: "old", state: "failed" }), { id: "old", state: "failed", ...FAILED });
  await work.cutRecordings(recordings("Talk"), "tight");
  expect(row()).toMatchObject({ state: "done", done: 1, retry: null });
  expect(row().problems).toEqual([{ id: "Talk", name: "Talk", message: "The recording has no speech." }]);
});
