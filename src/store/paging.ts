/**
 * Cursors of keyset paging. A cursor contains the sort key of a page's last row, signed with HMAC-SHA256 so it can be
 * trusted.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { invalidField } from "../domain/errors";

/** The values of a row by which a list is sorted. */
export type SortKey = readonly (string | number)[];

/** Creates cursors signed with `secret`. */
export function createCursors(secret: string) {
  const sign = (list: string, body: string) =>
    createHmac("sha256", secret).update(`cursor\0${list}\0${body}`).digest("base64url").slice(0, 22);
  return {
    /** Encodes the sort key of a page's last row. A cursor is valid only for the list named by `list`. */
    encode: (list: string, key: SortKey) => {
      const body = Buffer.from(JSON.stringify(key)).toString("base64url");
      return `${body}.${sign(list, body)}`;
    },
    /** Decodes a cursor. Throws `AppError` `validation_error` on `query.cursor`. */
    decode: (list: string, cursor: string) => {
      const [body = "", signature = "", ...rest] = cursor.split(".");
      const expected = Buffer.from(sign(list, body));
      const given = Buffer.from(signature);
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) {
        const message = "must be the next_cursor of a page of this list";
        throw invalidField("query.cursor", message, null, "Cursor is invalid.");
      }
      return JSON.parse(Buffer.from(body, "base64url").toString()) as SortKey;
    },
  };
}

export type Cursors = ReturnType<typeof createCursors>;
