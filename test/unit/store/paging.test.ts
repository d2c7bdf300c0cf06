import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../../src/domain/errors";
import { createCursors } from "../../../src/store/paging";
import { toRowPage } from "../../../src/store/rows";

const cursors = createCursors("secret");

function getRefusal(decode: () => unknown): unknown {
  try {
    decode();
  } catch (error) {
    return error instanceof AppError ? { code: error.code, field: error.details.fields?.[0]?.field } : error;
  }
  return "accepted";
}

const REFUSED = { code: "validation_error", field: "query.cursor" };

describe("cursors", () => {
  test("decode to the key that was encoded", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.oneof(fc.string(), fc.integer())), (list, key) => {
        expect(cursors.decode(list, cursors.encode(list, key))).toEqual(key);
      }),
    );
  });

  const good = cursors.encode("assets u1", ["0193"]);
  const [body, signature] = good.split(".") as [string, string];
  test.each([
    ["empty", ""],
    ["not a cursor", "next"],
    ["without a signature", body],
    ["with an empty signature", `${body}.`],
    ["with a shorter signature", good.slice(0, -1)],
    ["with a longer signature", `${good}A`],
    ["with a third part", `${good}.x`],
    ["with another key and the same signature", `${Buffer.from('["9999"]').toString("base64url")}.${signature}`],
    ["with a signature that is not ASCII", `${body}.${"é".repeat(22)}`],
    ["of another list", cursors.encode("assets u2", ["0193"])],
    ["of another server", createCursors("other").encode("assets u1", ["0193"])],
  ])("are refused if they are %s", (_, cursor) => {
    expect(getRefusal(() => cursors.decode("assets u1", cursor))).toEqual(REFUSED);
  });

  test("are refused if any character is changed", () => {
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.constantFrom(..."AZaz09-_."), (at, character) => {
        fc.pre(good[at] !== character);
        const changed = good.slice(0, at) + character + good.slice(at + 1);
        expect(getRefusal(() => cursors.decode("assets u1", changed))).toEqual(REFUSED);
      }),
    );
  });
});

describe("toRowPage returns", () => {
  test.each([
    ["no rows", [], { rows: [], hasMore: false }],
    ["fewer rows than the limit", [1], { rows: [1], hasMore: false }],
    ["as many rows as the limit", [1, 2], { rows: [1, 2], hasMore: false }],
    ["hasMore with one row more than the limit", [1, 2, 3], { rows: [1, 2], hasMore: true }],
  ])("%s", async (_, rows, expected) => {
    const query = { limit: async (n: number) => rows.slice(0, n) };
    expect(await toRowPage(query, 2)).toEqual(expected);
  });
});
