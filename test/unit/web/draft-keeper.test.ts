/** What keeps the edits of a cut, with a browser and a server of the test's own. */
import { afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { createEditor } from "../../../web/editor/state/editor-state";
import type { keepDraft } from "../../../web/pages/asset/draft-keeper";
import { definePageGlobal, TestStorage, usePageGlobals } from "./page-globals";

type Draft = { revision: number; segments: { start: number; end: number }[]; texts: [] };

usePageGlobals();

let keep: typeof keepDraft;
let create: typeof createEditor;
const follow: Parameters<typeof keepDraft>[2] = { find: async () => null, open: () => {} };
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

function answer({ method, url }: Request, body: string): Response {
  if (method === "DELETE") stored = null;
  if (method === "PUT") {
    const draft = JSON.parse(body) as Draft;
    sent.push(draft);
    if (draft.revision !== (stored?.revision ?? 0)) return Response.json({ code: "conflict" }, { status: 409 });
    stored = { ...draft, revision: draft.revision + 1 };
  }
  if (url.endsWith("/first")) return Response.json({ draft_revision: stored?.revision ?? null });
  onRequest(method);
  if (stored !== null) return Response.json(stored);
  return method === "GET" ? Response.json({ code: "not_found" }, { status: 404 }) : new Response(null, { status: 204 });
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
  const keeper = keep(editor, { draft, isUnsaved: true, other: null }, follow);
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

/** Stores a draft of somebody else. */
const storeOther = (...kept: [number, number][]) => {
  const segments = kept.map(([start, end]) => ({ start, end }));
  stored = { revision: (stored?.revision ?? 0) + 1, segments, texts: [] };
};
const listKeptSeconds = (editor: ReturnType<typeof create>) =>
  editor.plan.value.spans.filter(({ isKept }) => isKept).map(({ start, end }) => [start / 1e6, end / 1e6]);

test("undoing all edits ends the draft", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  editor.undo();
  const deleted = nextRequest().then(nextRequest);
  keeper.resume();
  expect(await deleted).toBe("DELETE");
  await keeper.hold();
  expect(keeper.state.value).toEqual({ kind: "none" });
});

test("edits of others are shown without a request, and undo does not take them back", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  keeper.resume();
  await keeper.flush();
  storeOther([0, 4], [5, 9]);
  sent = [];
  await keeper.sync({ revision: stored!.revision });
  expect(listKeptSeconds(editor)).toEqual([
    [0, 4],
    [5, 9],
  ]);
  expect(keeper.getRevision()).toBe(stored!.revision);
  await keeper.flush();
  editor.undo();
  expect(listKeptSeconds(editor)).toEqual([
    [0, 4],
    [5, 10],
  ]);
  editor.redo();
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ segments: [{ end: 4 }, { start: 5, end: 9 }] });
});

test("edits of two people that do not overlap are merged and sent", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  storeOther([0, 2], [3, 9]);
  editor.apply(keepUntil(8), "Remove", "Removed");
  keeper.resume();
  await keeper.flush();
  await keeper.flush();
  expect(stored).toMatchObject({
    segments: [
      { start: 0, end: 2 },
      { start: 3, end: 8 },
    ],
  });
  expect(editor.announcement.value.text).toBe("1 change from another tab added");
  expect(keeper.state.value.kind).toBe("saved");
});

test("only edits that overlap are asked about", async () => {
  for (const choose of ["useMine", "useOther"] as const) {
    const { editor, keeper } = open();
    await nextRequest();
    await keeper.hold();
    // Both moved the same edge, and the other has removed something else.
    storeOther([0, 2], [3, 7]);
    editor.apply(keepUntil(8), "Remove", "Removed");
    keeper.resume();
    await keeper.flush();
    expect(keeper.state.value).toMatchObject({ kind: "conflict", other: { revision: stored!.revision } });
    expect(listKeptSeconds(editor)).toEqual([
      [0, 2],
      [3, 8],
    ]);
    keeper[choose]();
    await keeper.flush();
    expect(stored!.segments).toEqual([
      { start: 0, end: 2 },
      { start: 3, end: choose === "useMine" ? 8 : 7 },
    ]);
    keeper.stop();
    stored = null;
  }
});

test("a draft that somebody has discarded comes back with undo", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.flush();
  stored = null;
  await keeper.sync({});
  expect(listKeptSeconds(editor)).toEqual([[0, 10]]);
  expect(keeper.state.value).toEqual({ kind: "none" });
  editor.undo();
  await keeper.flush();
  expect(stored).toMatchObject({ segments: [{ start: 0, end: 9 }] });
});

test("a version of somebody else is opened, with the edits that it does not have as its draft", async () => {
  for (const isIdle of [true, false]) {
    const opened: Parameters<typeof follow.open>[0][] = [];
    const version = { id: "second" } as unknown as NonNullable<Parameters<typeof create>[0]["cut"]>;
    follow.find = async () => ({ version, content: keepUntil(7) });
    follow.open = (followed) => void opened.push(followed);
    const { editor, keeper } = open();
    await nextRequest();
    await keeper.flush();
    const removed = { start: 1e6, end: 2e6, isKept: false, reason: "manual", rule: null, confidence: null } as const;
    const spans = [
      { start: 0, end: 1e6, isKept: true, review: null } as const,
      removed,
      { start: 2e6, end: 9e6, isKept: true, review: null } as const,
      { ...removed, start: 9e6, end: 10e6 },
    ];
    await keeper.hold();
    keeper.resume();
    if (!isIdle) editor.apply({ plan: { duration: 10e6, spans } }, "Remove", "Removed");
    stored = null;
    await keeper.sync({});
    expect(opened).toMatchObject([{ version, isIdle, places: null }]);
    const kept = isIdle ? [] : [{ revision: 0, segments: [{ end: 1 }, { start: 2, end: 7 }] }];
    expect(readCopies("second")).toMatchObject(kept);
    keeper.stop();
  }
  follow.find = async () => null;
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
