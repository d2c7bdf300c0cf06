/** Batches in the tray: what the server had done before, and how they stop. */
import { afterEach, beforeAll, expect, test } from "bun:test";
import { definePageGlobal, usePageGlobals } from "./page-globals";

usePageGlobals();
let work: typeof import("../../../web/pages/project/batch-work");
let tray: typeof import("../../../web/tray/batches");
let renders: typeof import("../../../web/app/open-jobs");
beforeAll(async () => {
  work = await import("../../../web/pages/project/batch-work");
  tray = await import("../../../web/tray/batches");
  renders = await import("../../../web/app/open-jobs");
});
afterEach(() => {
  for (const { id } of tray.batches.value) tray.closeBatch(id);
  renders.quietRenders.clear();
});

type Recordings = Parameters<typeof work.renderRecordings>[0];

const recordings = (...ids: string[]) =>
  ids.map((id) => ({ id, name: id, latest_cut: { id: `cut of ${id}` } })) as unknown as Recordings;
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

test("a batch that is stopped while work starts ends with the last response", async () => {
  const held = Promise.withResolvers<object>();
  const asked = Promise.withResolvers<void>();
  respond(() => {
    asked.resolve();
    return held.promise;
  });
  const ended = work.renderRecordings(recordings("One", "Two"), null);
  await asked.promise;
  tray.stopBatch(row().id);
  held.resolve({ id: "render", state: "pending" });
  await ended;
  // The server completes both.
  expect(row()).toMatchObject({ state: "stopped", done: 2, problems: [] });
  expect([...renders.quietRenders]).toEqual([]);
});

test("failed renders are reported by the row while it is open, and by messages after that", async () => {
  let count = 0;
  respond(() => ({ id: `render ${++count}`, state: "pending" }));
  const ended = work.renderRecordings(recordings("One", "Two"), null);
  const started = Promise.withResolvers<void>();
  const unsubscribe = tray.batches.subscribe((rows) => {
    if (rows.at(-1)?.rest === "server") started.resolve();
  });
  await started.promise;
  unsubscribe();
  expect(renders.quietRenders.size).toBe(2);
  tray.closeBatch(row().id);
  await ended;
  expect([...renders.quietRenders]).toEqual([]);

  respond(() => ({ id: "old", state: "failed" }), { id: "old", state: "failed", ...FAILED });
  await work.renderRecordings(recordings("One", "Two"), null);
  expect([...renders.quietRenders]).toEqual(["old"]);
});

test("work that ends while another workspace is open is read when its own is open again", async () => {
  const { followWork } = await import("../../../web/tray/follow-work");
  const { chooseWorkspace, workspaces } = await import("../../../web/app/session");
  const open = (id: string) => {
    workspaces.value = [{ id, is_personal: false }] as typeof workspaces.value;
    chooseWorkspace(id);
  };
  open("other");
  const read = async () => ({ id: "cut", state: "completed", error_code: null, error_message: null });
  const ended = followWork({ id: "cut", state: "pending" }, "own", read, new AbortController().signal);
  open("own");
  await ended;
  workspaces.value = [];
});
