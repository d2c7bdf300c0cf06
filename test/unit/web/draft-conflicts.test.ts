/** The keeper of a cut's edits while others edit the same places. */
import "./page-globals";
import { expect, test } from "bun:test";
import { chooseDraft } from "../../../web/pages/asset/draft-stores";
import {
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

function getConflict({ state }: ReturnType<typeof open>["keeper"]) {
  if (state.value.kind !== "conflict") throw new Error(`The state is ${state.value.kind}.`);
  return state.value;
}

/** Returns a function that stores edits of the other person, which the keeper then loads. */
const createFollow =
  ({ sync }: ReturnType<typeof open>["keeper"]) =>
  async (...kept: [number, number][]) => {
    storeOther(...kept);
    await sync({ revision: server.stored!.revision });
  };

test("only overlapping edits need a decision", async () => {
  for (const takes of ["mine", "theirs"] as const) {
    const { editor, keeper } = open();
    await nextRequest();
    await keeper.hold();
    // Both moved the same edge, and the other has removed something else.
    storeOther([0, 2], [3, 7]);
    editor.apply(keepUntil(8), "Remove", "Removed");
    keeper.resume();
    await keeper.flush();
    expect(keeper.state.value).toMatchObject({ kind: "conflict", other: { revision: server.stored!.revision } });
    expect(listKeptSeconds(editor)).toEqual([
      [0, 2],
      [3, 8],
    ]);
    keeper.resolve(takes, getConflict(keeper));
    await keeper.flush();
    expect(server.stored!.segments).toEqual([
      { start: 0, end: 2 },
      { start: 3, end: takes === "mine" ? 8 : 7 },
    ]);
    keeper.stop();
    server.stored = null;
  }
});

test("a conflict follows the edits of the other person, and ends when they are taken back", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  storeOther([0, 7]);
  editor.apply(keepUntil(8), "Remove", "Removed");
  keeper.resume();
  await keeper.flush();
  const follow = createFollow(keeper);
  await follow([0, 2], [3, 6]);
  expect(keeper.state.value).toMatchObject({
    kind: "conflict",
    other: { segments: [{ end: 2 }, { start: 3, end: 6 }] },
  });
  expect(listKeptSeconds(editor)).toEqual([
    [0, 2],
    [3, 8],
  ]);
  await follow([0, 2], [3, 9]);
  await keeper.flush();
  expect(keeper.state.value.kind).toBe("saved");
  expect(server.stored!.segments).toEqual([
    { start: 0, end: 2 },
    { start: 3, end: 8 },
  ]);
});

test("changes that were applied during a conflict can be extended and taken back", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  const follow = createFollow(keeper);
  editor.apply(keepUntil(8), "Remove", "Removed");
  keeper.resume();
  await follow([0, 2], [3, 7]);
  const { places } = getConflict(keeper);
  await follow([0, 2], [5, 7]);
  expect(getConflict(keeper).places).toEqual(places);
  expect(listKeptSeconds(editor)).toEqual([
    [0, 2],
    [5, 8],
  ]);
  await follow([0, 7]);
  expect(getConflict(keeper).places).toEqual(places);
  expect(listKeptSeconds(editor)).toEqual([[0, 8]]);
});

test("edits that arrive while a conflict is resolved are merged after that", async () => {
  for (const takes of ["mine", "theirs"] as const) {
    const { editor, keeper } = open();
    await nextRequest();
    await keeper.hold();
    storeOther([0, 7]);
    editor.apply(keepUntil(8), "Remove", "Removed");
    keeper.resume();
    await keeper.flush();
    const shown = getConflict(keeper);
    storeOther([0, 2], [3, 7]);
    await keeper.sync({ revision: server.stored!.revision });
    expect(getConflict(keeper)).not.toBe(shown);
    keeper.resolve(takes, shown);
    await keeper.flush();
    await keeper.flush();
    expect(keeper.state.value.kind).toBe("saved");
    expect(server.stored!.segments).toEqual([
      { start: 0, end: 2 },
      { start: 3, end: takes === "mine" ? 8 : 7 },
    ]);

    // An edit of the same place is a new question.
    storeOther([0, 2], [3, 6]);
    editor.apply(keepUntil(5), "Remove", "Removed");
    await keeper.flush();
    const first = getConflict(keeper);
    storeOther([0, 2], [3, 4]);
    await keeper.sync({ revision: server.stored!.revision });
    keeper.resolve("mine", first);
    await keeper.flush();
    expect(getConflict(keeper).other).toMatchObject({ segments: [{ end: 2 }, { start: 3, end: 4 }] });
    expect(server.stored!.segments).toEqual([
      { start: 0, end: 2 },
      { start: 3, end: 4 },
    ]);
    keeper.stop();
    server.stored = null;
  }
});

test("an unresolved conflict is shown again", async () => {
  const { editor, keeper } = open();
  await nextRequest();
  await keeper.hold();
  const { segments } = server.stored!;
  storeOther([0, 7]);
  editor.apply(keepUntil(8), "Remove", "Removed");
  keeper.resume();
  await keeper.flush();
  expect(keeper.state.value.kind).toBe("conflict");
  keeper.stop();
  const chosen = chooseDraft(server.stored, readCopies("first"));
  const draft = { segments: [{ end: 8 }], base: { segments } };
  expect(chosen).toMatchObject({ draft, isUnsaved: true, other: server.stored });
});
