/** The keeper of one person's edits. */
import { expect, test } from "bun:test";
import { keepUntil, nextRequest, open, readCopies, server, timers, useDraftDesk } from "./draft-desk";

useDraftDesk();

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
  expect(server.sent).toEqual([]);
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
  expect(server.sent).toEqual([]);
  const resumed = nextRequest();
  keeper.resume();
  await resumed;
  expect(server.sent).toMatchObject([{ segments: [{ start: 0, end: 9 }] }]);
});

test("an edge that is still dragged is not sent", async () => {
  const { editor } = open();
  editor.preview(keepUntil(5));
  await timers();
  expect(server.sent).toEqual([]);
  editor.cancelPreview();
});

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
