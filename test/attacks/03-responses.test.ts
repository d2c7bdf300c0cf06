/** Small requests that ask for large answers, or for much work before the refusal. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import { NO_ID, outcome } from "../http/outcome";
import type { Cut, Paged } from "../http/resources";
import { type AttackedServer, startAttackedServer } from "./attacked-server";

let server: AttackedServer;
let user: Client;
let edits: string;
beforeAll(async () => {
  server = await startAttackedServer();
  user = await server.user();
  // A body is read before the state of the cut matters.
  const asset = await user.ready(await wav(2));
  const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
  edits = `/v1/cuts/${cut.id}/edits`;
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const AT_ONCE = 24;
const MAX_ANSWER_BYTES = 64 * 1024;
/** More than fit on one page, with scripts of 400 KB each. */
const CUTS = 12;
const MAX_PAGE_CHARACTERS = 1_100_000;

const list = (element: string, count: number) => `[${Array.from({ length: count }, () => element).join(",")}]`;
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const object = (count: number, property: (n: number) => string) =>
  `{${Array.from({ length: count }, (_, n) => property(n)).join(",")}}`;

/** Bodies below 1 MiB, with the outcome of a POST of them to the edits of a cut. */
const BODIES: [string, string, RegExp][] = [
  ["500,000 elements that fit no schema", `{"segments":${list("7", 488_000)}}`, /^422 validation_error body\.segments/],
  ["20,000 elements that fit no schema", `{"segments":${list('{"a":1}', 20_000)}}`, /^422 validation_error body\.seg/],
  ["20,000 segments of no length", `{"segments":${list('{"start":1,"end":1}', 20_000)}}`, /^422 validation_error/],
  ["80,000 unknown properties", object(80_000, (n) => `"p${n}":1`), /^400 bad_request$/],
  ["1,000 unknown properties", object(1_000, (n) => `"p${n}":1`), /^422 validation_error body\./],
  ["a property with a long name", `{"${"/".repeat(1_000_000)}":1}`, /^400 bad_request$/],
  ["a long text for a list", `{"segments":"${"x".repeat(1_000_000)}"}`, /^422 validation_error body\.segments$/],
  ["a list nested 500,000 times", nested(500_000), /^400 bad_request$/],
  ["a list nested 65 times", `{"segments":${nested(65)}}`, /^400 bad_request$/],
  ["objects nested 150,000 times", '{"a":'.repeat(150_000), /^400 bad_request$/],
  ["a million backslashes", `{"segments":"${"\\\\".repeat(500_000)}"}`, /^422 validation_error body\.segments$/],
  ["a list of lists", `{"segments":${list("[[[]]]", 140_000)}}`, /^422 validation_error body\.segments$/],
];

const post = (path: string, body: string) =>
  user.call("POST", path, { body, headers: { "Content-Type": "application/json" } });
const sizeOf = (reply: { body: unknown }) => JSON.stringify(reply.body).length;

test.each(BODIES)(
  "%s, 24 in parallel: small refusals, and no request waits",
  async (_, body, expected) => {
    const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => post(edits, body)));
    for (const reply of replies) {
      expect(outcome(reply)).toMatch(expected);
      expect(sizeOf(reply)).toBeLessThan(MAX_ANSWER_BYTES);
    }
    server.expectUnharmed({ maxProbeMs: 500 });
  },
  30_000,
);

test("20,000 segments that fit are read, in turns", async () => {
  const segments = Array.from({ length: 20_000 }, (_, n) => ({ start: n, end: n + 0.5 }));
  const body = JSON.stringify({ segments });
  const replies = await Promise.all(Array.from({ length: 6 }, () => post(edits, body)));
  for (const reply of replies) expect(outcome(reply)).toStartWith("422 validation_error body.segments.2,");
  server.expectUnharmed({ maxProbeMs: 500 });
}, 30_000);

test("lists of cuts with long scripts come in short pages, also 24 at once, and their asset is deleted", async () => {
  const script = (n: number) => `${n} ${"ж".repeat(199_000)}`;
  const asset = await user.ready(await wav(2));
  const ids = [];
  for (let n = 0; n < CUTS; n++) {
    const reply = await post("/v1/cuts", JSON.stringify({ asset_id: asset.id, script: script(n) }));
    expect(reply.status).toBe(201);
    ids.push((reply.body as { id: string }).id);
  }
  const list = `/v1/cuts?asset_id=${asset.id}&limit=100`;
  const pages = await Promise.all(Array.from({ length: AT_ONCE }, () => user.call<Paged<Cut>>("GET", list)));
  for (const { body } of pages) {
    expect(body.limit).toBe(100);
    expect(sizeOf({ body })).toBeLessThan(MAX_PAGE_CHARACTERS);
  }
  server.expectUnharmed({ maxProbeMs: 500 });

  const listed: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Paged<Cut> = (await user.call<Paged<Cut>>("GET", `${list}${cursor && `&cursor=${cursor}`}`)).body;
    listed.push(...page.items.map((cut) => cut.id));
    cursor = page.next_cursor;
  }
  expect(listed).toEqual(ids.reverse());
  expect((await user.call("DELETE", `/v1/assets/${asset.id}`)).status).toBe(204);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 60_000);

test.each([
  ["/v1/projects", 413],
  ["/v1/assets", 413],
  ["/v1/webhook-endpoints", 413],
  ["/v1/renders", 413],
  ["/v1/cuts", 422],
])("a body of 100 KB to %s is a %i", async (path, status) => {
  const reply = await post(path, JSON.stringify({ asset_id: NO_ID, x: "y".repeat(100_000) }));
  expect(reply.status).toBe(status);
  expect(sizeOf(reply)).toBeLessThan(2_000);
});

test("a query with thousands of parameters is answered with 50 of them", async () => {
  const names = Array.from({ length: 2_000 }, (_, n) => `p${n}`).join("&");
  const replies = await Promise.all(
    Array.from({ length: AT_ONCE }, () => user.call("GET", `/v1/projects?${names}&limit=0`)),
  );
  for (const reply of replies) {
    expect(reply.status).toBe(422);
    expect(sizeOf(reply)).toBeLessThan(8_000);
  }
  server.expectUnharmed({ maxProbeMs: 500 });
});
