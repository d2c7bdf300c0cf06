import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../../src/domain/errors";
import { createCursors, toPage } from "../../../src/store/paging";

const cursors = createCursors("secret");

function refusal(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    return error instanceof AppError ? { code: error.code, field: error.details.fields?.[0]?.field } : error;
  }
  return "accepted";
}

const REFUSED = { code: "validation_error", field: "query.cursor" };

describe("cursors", () => {
  test("give back what was put in, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.oneof(fc.string(), fc.integer())), (list, key) => {
        expect(cursors.decode(list, cursors.encode(list, key))).toEqual(key);
      }),
    );
  });

  const good = cursors.encode("assets u1", ["0193"]);
  const [body, mark] = good.split(".") as [string, string];
  test.each([
    ["empty", ""],
    ["no cursor at all", "next"],
    ["without its mark", body],
    ["with an empty mark", `${body}.`],
    ["with a shorter mark", good.slice(0, -1)],
    ["with a longer mark", `${good}A`],
    ["with a third part", `${good}.x`],
    ["with another key under the same mark", `${Buffer.from('["9999"]').toString("base64url")}.${mark}`],
    ["with a mark that is not ASCII", `${body}.${"é".repeat(22)}`],
    ["of another list", cursors.encode("assets u2", ["0193"])],
    ["of another server", createCursors("other").encode("assets u1", ["0193"])],
  ])("refuse one that is %s", (_, cursor) => {
    expect(refusal(() => cursors.decode("assets u1", cursor))).toEqual(REFUSED);
  });

  test("refuse one with any single character changed", () => {
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.constantFrom(..."AZaz09-_."), (at, character) => {
        fc.pre(good[at] !== character);
        const changed = good.slice(0, at) + character + good.slice(at + 1);
        expect(refusal(() => cursors.decode("assets u1", changed))).toEqual(REFUSED);
      }),
    );
  });
});

describe("pages", () => {
  const show = (n: number) => n * 10;
  test.each([
    ["nothing", [], { items: [], next_cursor: null }],
    ["fewer than the limit", [1], { items: [10], next_cursor: null }],
    ["exactly the limit", [1, 2], { items: [10, 20], next_cursor: null }],
    ["one more than the limit", [1, 2, 3], { items: [10, 20], next_cursor: "after 2" }],
  ])("of %s", (_, rows, expected) => {
    expect(toPage(rows, 2, show, (n) => `after ${n}`)).toEqual({ ...expected, limit: 2 });
  });
});
