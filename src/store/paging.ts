/**
 * Keyset paging. A cursor carries the sort key of the last row shown; a keyed hash keeps it from being made up or changed,
 * so that the keys it holds can be trusted.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../domain/errors";

export type Page<T> = { items: T[]; limit: number; next_cursor: string | null };

export type Cursors = {
  /** Packs the sort key of the last row shown. `list` names the list, so that one list's cursor is refused by another. */
  encode(list: string, key: (string | number)[]): string;
  /** Unpacks it. Throws `validation_error` on `query.cursor`. */
  decode(list: string, cursor: string): (string | number)[];
};

/** Cursors signed with `secret`. */
export function createCursors(secret: string): Cursors {
  const sign = (list: string, body: string) =>
    createHmac("sha256", secret).update(`cursor\0${list}\0${body}`).digest("base64url").slice(0, 22);
  return {
    encode: (list, key) => {
      const body = Buffer.from(JSON.stringify(key)).toString("base64url");
      return `${body}.${sign(list, body)}`;
    },
    decode: (list, cursor) => {
      const [body = "", mark = "", ...rest] = cursor.split(".");
      const expected = Buffer.from(sign(list, body));
      const given = Buffer.from(mark);
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new AppError("validation_error", "The cursor is not valid.", {
          fields: [{ field: "query.cursor", message: "is not a cursor of this list" }],
        });
      }
      return JSON.parse(Buffer.from(body, "base64url").toString()) as (string | number)[];
    },
  };
}

/** Makes a page of `rows`. `hasMore`: others follow; unless given, `rows` hold one row more than `limit` then. */
export function toPage<Row, Item>(
  rows: Row[],
  limit: number,
  show: (row: Row) => Item,
  cursorOf: (row: Row) => string,
  hasMore = rows.length > limit,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(show),
    limit,
    next_cursor: hasMore && last !== undefined ? cursorOf(last) : null,
  };
}
