/** What keeps the edits of a cut, with a browser and a server of the test's own. */
import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { createEditor } from "../../../web/editor/state/editor-state";
import type { keepDraft } from "../../../web/pages/asset/draft-keeper";
import { definePageGlobal, TestStorage, usePageGlobals } from "./page-globals";

type Draft = { revision: number; segments: { start: number; end: number }[]; texts: [] };

usePageGlobals();

let keep: typeof keepDraft;
let create: typeof createEditor;
/** The draft on the server, what was sent there, and who waits for the next request. */
let stored: Draft | null = null;
let sent: Draft[] = [];
let onRequest: (method: string) => void = () => {};

beforeAll(async () => {
  keep = (await import("../../../web/pages/asset/draft-keeper")).keepDraft;
  create = (await import("../../../web/editor/state/editor-state")).createEditor;
});
beforeEach(() => {
  sent = [];
  definePageGlobal("localStorage", new TestStorage());
  stored = null;
  definePageGlobal("fetch", async (request: Request) => answer(request, await request.text()));
});

function answer({ method }: Request, body: string): Response {
  if (method === "DELETE") stored = null;
  if (method === "PUT") {
    const draft = JSON.parse(body) as Draft;
    sent.push(draft);
    if (draft.revision !== (stored?.revision ?? 0)) return Response.json({ code: "conflict" }, { status: 409 });
    stored = { ...draft, revision: draft.revision + 1 };
  }
  onRequest(method);
  return stored === null ? new Response(null, { status: 204 }) : Response.json(stored);
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});
const timers = () => new Promise<void>((resolve) => setTimeout(resolve));
/** Resolves with the method of the next request that the server accepts. */
const nextRequest = () => new Promise<string>((resolve) => (onRequest = resolve));

/** Opens a cut of ten seconds with a draft that keeps the first nine and was not sent. */
function open() {
  const plan = { source_duration: 10, segments: [{ start: 0, end: 10, review: null }], removed: [], takes: [] };
  const cut = { id: "first", plan } as unknown as Parameters<typeof create>[0]["cut"];
  const words = { text: [], start: [], end: [] };
  const editor = create({ cut, duration: 10, words, draft: keepUntil(9), canWrite: true, playhead: null as never });
  const draft = { revision: 0, segments: [{ start: 0, end: 9 }], texts: [] };
  const keeper = keep(editor, { draft, isUnsaved: true, other: null });
  stops.push(keeper.stop);
  return { editor, keeper };
}

const keepUntil = (seconds: number) => {
  const end = seconds * 1e6;
  const removed = { start: end, end: 10e6, isKept: false, reason: "manual", rule: null, confidence: null } as const;
  const spans = [{ start: 0, end, isKept: true, review: null } as const, removed];
  return { plan: { duration: 10e6, spans }, corrections: [] };
};

const readCopies = (cutId: string): Draft[] =>
  Object.entries(localStorage)
    .filter(([key]) => key.includes(`.${cutId}.`))
    .map(([, text]) => JSON.parse(text as string) as Draft);

test("edits made while a cut is saved become the draft of that cut", async () => {
  const { editor, keeper } = open();
  await keeper.hold();
  const saved = editor.getSettled();
  editor.apply(keepUntil(8), "Remove", "Removed");
  keeper.finish("second", saved);
  expect(readCopies("first")).toEqual([]);
  expect(readCopies("second")).toMatchObject([{ revision: 0, segments: [{ start: 0, end: 8 }] }]);
  editor.apply(keepUntil(7), "Remove", "Removed");
  keeper.stop();
  expect(readCopies("second")).toMatchObject([{ segments: [{ start: 0, end: 7 }] }]);
  await timers();
  expect(sent).toEqual([]);
});

test("a saved cut without later edits has no draft", async () => {
  const { editor, keeper } = open();
  await keeper.hold();
  keeper.finish("second", editor.getSettled());
  keeper.stop();
  expect([...readCopies("first"), ...readCopies("second")]).toEqual([]);
});

test("the draft is sent after a cut could not be saved", async () => {
  const { keeper } = open();
  await keeper.hold();
  await timers();
  expect(sent).toEqual([]);
  const resumed = nextRequest();
  keeper.resume();
  await resumed;
  expect(sent).toMatchObject([{ segments: [{ start: 0, end: 9 }] }]);
});

test("an edge that is still dragged is not sent", async () => {
  const { editor } = open();
  editor.preview(keepUntil(5));
  await timers();
  expect(sent).toEqual([]);
  editor.cancelPreview();
});

test("undoing all edits ends the draft, but not that of another tab", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  editor.undo();
  stored = { revision: 2, segments: [{ start: 0, end: 5 }], texts: [] };
  const asked = nextRequest();
  keeper.resume();
  expect(await asked).toBe("GET");
  await keeper.hold();
  expect(keeper.state.value).toMatchObject({ kind: "conflict", other: { revision: 2 } });

  keeper.useMine();
  const deleted = nextRequest().then(nextRequest);
  keeper.resume();
  expect(await deleted).toBe("DELETE");
  await keeper.hold();
  expect(keeper.state.value).toEqual({ kind: "none" });
});

test("a draft that another tab has sent again is no conflict", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  stored = { ...stored!, revision: 2 };
  editor.apply(keepUntil(8), "Remove", "Removed");
  const accepted = nextRequest().then(nextRequest);
  keeper.resume();
  expect(await accepted).toBe("PUT");
  expect(stored).toMatchObject({ revision: 3, segments: [{ end: 8 }] });
});
