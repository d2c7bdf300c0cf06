import "./page-globals";
import { expect, test } from "bun:test";
import { chooseDraft } from "../../../web/pages/asset/draft-stores";

const draft = (revision: number, end: number) => ({ revision, segments: [{ start: 0, end }], texts: [] });
const server = draft(3, 1);
const alone = (end: number) => ({ ...draft(0, end), base: null });

test.each([
  ["nothing", null, [], { draft: null, isUnsaved: false, other: null }],
  ["the server's alone", server, [], { draft: server, isUnsaved: false, other: null }],
  ["the same on both sides", server, [draft(2, 1)], { draft: server, isUnsaved: false, other: null }],
  ["a newer one here", server, [draft(3, 2)], { draft: draft(3, 2), isUnsaved: true, other: null }],
  ["one here alone", null, [{ ...draft(3, 2), base: server }], { draft: alone(2), isUnsaved: true, other: null }],
  ["different ones", server, [draft(2, 2)], { draft: draft(2, 2), isUnsaved: true, other: server }],
  ["of two tabs", server, [draft(3, 4), draft(3, 5)], { draft: draft(3, 4), isUnsaved: true, other: draft(3, 5) }],
  ["the same of two tabs", null, [draft(0, 4), draft(0, 4)], { draft: alone(4), isUnsaved: true, other: null }],
  ["of a tab that sent it", server, [draft(3, 1), draft(3, 5)], { draft: draft(3, 5), isUnsaved: true, other: null }],
])("a draft goes on: %s", (_, stored, copies, expected) => {
  expect(chooseDraft(stored, copies)).toEqual(expected);
});
