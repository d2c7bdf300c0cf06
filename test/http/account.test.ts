import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { tryCall } from "./outcome";
import type { LedgerEntry, Paged } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
beforeAll(async () => {
  server = await harness();
});
afterAll(() => server[Symbol.asyncDispose]());

test("the account has its fields", async () => {
  const anna = await server.user();
  expect(await anna.must("GET", "/v1/users/me")).toEqual({
    id: anna.userId,
    email: `${anna.userId}@example.test`,
    name: null,
    email_verified_at: null,
    deleted_at: null,
    created_at: expect.stringMatching(/Z$/),
    storage_used_bytes: 0,
    storage_quota_bytes: null,
  });
});

describe("the credit history", () => {
  const history = (user: Awaited<ReturnType<Harness["user"]>>, query = "") =>
    user.must<Paged<LedgerEntry>>("GET", `/v1/credits/history${query}`);

  test("lists entries newest first, with null in fields that do not apply", async () => {
    const anna = await server.user(5);
    await server.grant(anna, 7);
    expect((await history(anna)).items).toEqual([
      {
        id: expect.any(String),
        type: "grant",
        delta: 7,
        created_at: expect.stringMatching(/Z$/),
        asset_id: null,
        payment_invoice_id: null,
      },
      expect.objectContaining({ delta: 5 }),
    ]);
  });

  test("returns every entry once over several pages", async () => {
    const anna = await server.user(0);
    for (let credits = 1; credits <= 5; credits++) await server.grant(anna, credits);
    const first = await history(anna, "?limit=3");
    const second = await history(anna, `?limit=3&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map((entry) => entry.delta)).toEqual([5, 4, 3, 2, 1]);
    expect(second.next_cursor).toBeNull();
  });

  test("has 50 entries per page by default and at most 200", async () => {
    const anna = await server.user(0);
    expect(await history(anna)).toEqual({ items: [], limit: 50, next_cursor: null });
    expect((await history(anna, "?limit=200")).limit).toBe(200);
    expect(await tryCall(anna, "GET", "/v1/credits/history?limit=201")).toBe("422 validation_error query.limit");
    expect(await tryCall(anna, "GET", "/v1/credits/history?type=grant")).toBe("422 validation_error query.type");
  });

  test("has only the user's own entries", async () => {
    const [anna, bert] = [await server.user(3), await server.user(0)];
    await server.grant(anna, 1);
    expect((await history(bert)).items).toEqual([]);
    const { next_cursor } = await history(anna, "?limit=1");
    const stolen = await tryCall(bert, "GET", `/v1/credits/history?cursor=${next_cursor}`);
    expect(stolen).toBe("422 validation_error query.cursor");
  });
});
