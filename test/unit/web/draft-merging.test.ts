/** The keeper of a cut's edits while others edit it too. */
import "./page-globals";
import { expect, test } from "bun:test";
import {
  type Cut,
  follow,
  keepUntil,
  listKeptSeconds,
  nextRequest,
  open,
  readCopies,
  server,
  storeOther,
  useDraftDesk,
} from "./draft-desk";

useDraftDesk();

test("edits of others are shown without a request, and undo does not take them back", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  keeper.resume();
  await keeper.flush();
  storeOther([0, 4], [5, 9]);
  server.sent = [];
  await keeper.sync({ revision: server.stored!.revision });
  expect(listKeptSeconds(editor)).toEqual([
    [0, 4],
    [5, 9],
  ]);
  expect(keeper.getRevision()).toBe(server.stored!.revision);
  await keeper.flush();
  editor.undo();
  expect(listKeptSeconds(editor)).toEqual([
    [0, 4],
    [5, 10],
  ]);
  editor.redo();
  expect(server.sent).toHaveLength(1);
  expect(server.sent[0]).toMatchObject({ segments: [{ end: 4 }, { start: 5, end: 9 }] });
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
  expect(server.stored).toMatchObject({
    segments: [
      { start: 0, end: 2 },
      { start: 3, end: 8 },
    ],
  });
  expect(editor.announcement.value.text).toBe("1 change from another tab or device added");
  expect(keeper.state.value.kind).toBe("saved");
});

test("a draft that somebody has discarded comes back with undo", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.flush();
  server.stored = null;
  await keeper.sync({});
  expect(listKeptSeconds(editor)).toEqual([[0, 10]]);
  expect(keeper.state.value).toEqual({ kind: "none" });
  editor.undo();
  await keeper.flush();
  expect(server.stored).toMatchObject({ segments: [{ start: 0, end: 9 }] });
});

test("a version of somebody else is opened, with the edits that it does not have as its draft", async () => {
  for (const isIdle of [true, false]) {
    const opened: Parameters<typeof follow.open>[0][] = [];
    const version = { id: "second" } as unknown as Cut;
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
    server.stored = null;
    await keeper.sync({});
    expect(opened).toMatchObject([{ version, isIdle, places: null }]);
    const kept = isIdle ? [] : [{ revision: 0, segments: [{ end: 1 }, { start: 2, end: 7 }] }];
    expect(readCopies("second")).toMatchObject(kept);
    keeper.stop();
  }
});

test("a draft that another tab has sent again is not a conflict", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  server.stored = { ...server.stored!, revision: 2 };
  editor.apply(keepUntil(8), "Remove", "Removed");
  const accepted = nextRequest().then(nextRequest);
  keeper.resume();
  expect(await accepted).toBe("PUT");
  expect(server.stored).toMatchObject({ revision: 3, segments: [{ end: 8 }] });
});

test("undo that restores a state before others' changes is saved", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.flush();
  storeOther([0, 4], [5, 9]);
  await keeper.sync({ revision: server.stored!.revision });
  editor.apply(keepUntil(3), "Remove", "Removed");
  await keeper.flush();
  expect(server.stored).toMatchObject({ segments: [{ end: 3 }] });
  editor.undo();
  keeper.stop();
  expect(readCopies("first")).toMatchObject([{ segments: [{ end: 4 }, { start: 5, end: 9 }] }]);
});

test("a refusal that reading the draft does not end is shown, and tried again later", async () => {
  server.isFull = true;
  const { keeper } = open();
  await keeper.flush();
  expect(keeper.state.value).toEqual({ kind: "local", message: "Storage quota reached." });
  expect(server.sent).toHaveLength(1);
});

test("a copy is merged with a later draft from the draft that it was made in", async () => {
  storeOther([0, 7]);
  const base = server.stored!;
  storeOther([0, 2], [3, 7]);
  // The end that the draft removed was restored offline.
  const draft = { revision: base.revision, segments: [{ start: 0, end: 9 }], texts: [], base };
  const other = { ...server.stored!, updated_at: "2026-01-01T00:00:00Z" };
  const { editor, keeper } = open({ draft, other });
  const merged = [
    [0, 2],
    [3, 9],
  ];
  expect(listKeptSeconds(editor)).toEqual(merged);
  await keeper.flush();
  expect(server.stored!.segments.map(({ start, end }) => [start, end])).toEqual(merged);
  keeper.stop();
});

test("a copy names the draft in which its edits were made", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.flush();
  await keeper.hold();
  editor.apply(keepUntil(8), "Remove", "Removed");
  keeper.stop();
  const { revision, segments } = server.stored!;
  expect(readCopies("first")).toMatchObject([{ revision, segments: [{ end: 8 }], base: { segments } }]);
});

test("copies of two tabs are merged, sent and kept until then", async () => {
  const other = {
    revision: 0,
    segments: [
      { start: 0, end: 4 },
      { start: 5, end: 9 },
    ],
    texts: [] as [],
  };
  const { editor, keeper } = open({ other });
  expect(listKeptSeconds(editor)).toEqual([
    [0, 4],
    [5, 9],
  ]);
  expect(readCopies("first")).toMatchObject([{ segments: [{ end: 4 }, { start: 5, end: 9 }] }]);
  await keeper.flush();
  expect(server.stored).toMatchObject({ segments: [{ end: 4 }, { start: 5, end: 9 }] });
  expect(readCopies("first")).toEqual([]);
});

test("a draft that somebody stores before its deletion stays", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.flush();
  editor.undo();
  // After the request that stores the edits without changes.
  server.onRequest = () => {
    server.onRequest = () => {};
    queueMicrotask(() => storeOther([0, 6]));
  };
  await keeper.flush();
  expect(server.stored).toMatchObject({ segments: [{ start: 0, end: 6 }] });
  expect(listKeptSeconds(editor)).toEqual([[0, 6]]);
});

test("a version that is opened during a drag has no draft with what it has replaced", async () => {
  const version = { id: "second" } as unknown as Cut;
  const opened: boolean[] = [];
  follow.find = async () => ({ version, content: keepUntil(7) });
  follow.open = ({ isIdle }) => void opened.push(isIdle);
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.flush();
  editor.preview(keepUntil(5));
  server.stored = null;
  await keeper.sync({});
  keeper.stop();
  expect([opened, readCopies("second")]).toEqual([[true], []]);
  editor.cancelPreview();
});
