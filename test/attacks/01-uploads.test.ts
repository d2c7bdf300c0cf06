/**
 * An upload's id taken from anywhere but the authorized path reads, overwrites or deletes the upload of another user.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Client } from "../http/client";
import type { Asset } from "../http/resources";
import { type AttackedServer, startAttackedServer } from "./attacked-server";
import { openConnection, rawRequest } from "./raw-request";

let server: AttackedServer;
let victim: Client;
let attacker: Client;
let theirs: Asset;
beforeAll(async () => {
  server = await startAttackedServer();
  [victim, attacker] = [await server.user(), await server.user()];
  theirs = await victim.open(LENGTH);
  await victim.patch(theirs.id, 0, SECRET);
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const LENGTH = 4_000;
const SECRET = new Uint8Array(300).fill(7);
const OWN = new Uint8Array(100).fill(1);
/** Bytes that would be written at the victim's offset. */
const EVIL = new Uint8Array(50).fill(9);

const UNCHANGED_MS = 2_000;
/** A server that polled waiting requests used 250 MB in the first two seconds, and more each second. */
const MAX_WAITING_MEGABYTES = 170;

/** Waits until a figure has been the same for two seconds: the server reads no more, or has read all. */
async function untilUnchanged(figure: () => number): Promise<void> {
  let since = performance.now();
  for (let last = figure(); performance.now() - since < UNCHANGED_MS; ) {
    await Bun.sleep(20);
    const current = figure();
    if (current !== last) since = performance.now();
    last = current;
  }
}

const encoded = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join("");

/** Targets that name the attacker's upload first and the victim's last, or hide one in the other. */
const TARGETS: [string, (mine: string, other: string) => string][] = [
  ["a query", (mine, other) => `/v1/uploads/${mine}?x=/${other}`],
  ["a query that is a path", (mine, other) => `/v1/uploads/${mine}?/${other}`],
  ["a query with a slash at its end", (mine, other) => `/v1/uploads/${mine}?x=/${other}/`],
  ["an encoded query", (mine, other) => `/v1/uploads/${mine}?x=%2F${other}`],
  ["a fragment", (mine, other) => `/v1/uploads/${mine}#/${other}`],
  ["a fragment behind a query", (mine, other) => `/v1/uploads/${mine}?a#/${other}`],
  ["a path parameter", (mine, other) => `/v1/uploads/${mine};/${other}`],
  ["an encoded question mark", (mine, other) => `/v1/uploads/${mine}%3Fx=/${other}`],
  ["an encoded number sign", (mine, other) => `/v1/uploads/${mine}%23/${other}`],
  ["an encoded slash", (mine, other) => `/v1/uploads/${mine}%2F${other}`],
  ["an encoded slash, twice", (mine, other) => `/v1/uploads/${mine}%252F${other}`],
  ["a backslash", (mine, other) => `/v1/uploads/${mine}\\${other}`],
  ["dots", (mine, other) => `/v1/uploads/${mine}/../${other}`],
  ["encoded dots", (mine, other) => `/v1/uploads/${mine}%2F..%2F${other}`],
  ["another segment", (mine, other) => `/v1/uploads/${mine}/${other}`],
  ["an absolute target", (mine, other) => `http://other.example/v1/uploads/${mine}?x=/${other}`],
  ["an encoded id", (_, other) => `/v1/uploads/${encoded(other)}`],
  ["an id in capitals", (_, other) => `/v1/uploads/${other.toUpperCase()}`],
  ["the id itself", (_, other) => `/v1/uploads/${other}`],
];

const METHODS: [string, string, Record<string, string>][] = [
  ["HEAD", "HEAD", {}],
  ["PATCH", "PATCH", {}],
  ["DELETE", "DELETE", {}],
  ["POST for PATCH", "POST", { "X-HTTP-Method-Override": "PATCH" }],
  ["POST for DELETE", "POST", { "X-HTTP-Method-Override": "DELETE" }],
  ["PATCH for DELETE", "PATCH", { "X-HTTP-Method-Override": "DELETE" }],
];

const send = (method: string, target: string, headers: Record<string, string>) =>
  rawRequest(
    server.url(),
    method,
    target,
    {
      Authorization: `Bearer ${attacker.key}`,
      "Tus-Resumable": "1.0.0",
      "Content-Type": "application/offset+octet-stream",
      "Upload-Offset": String(SECRET.length),
      // Each of these would change the behavior of a library that trusts them.
      "Upload-Length": "999999",
      "Upload-Defer-Length": "1",
      "Upload-Concat": `final;/v1/uploads/${theirs.id}`,
      "X-Forwarded-Host": `evil.example/v1/uploads/${theirs.id}`,
      "X-Original-URL": `/v1/uploads/${theirs.id}`,
      ...headers,
    },
    method === "HEAD" ? "" : EVIL,
  );

async function expectUntouched(): Promise<void> {
  const stored = await Bun.file(join(server.data, "uploads", theirs.id)).bytes();
  expect(Buffer.compare(stored, SECRET)).toBe(0);
  const asked = await victim.call("HEAD", `/v1/uploads/${theirs.id}`, { headers: victim.tus() });
  expect([asked.status, asked.headers.get("upload-offset"), asked.headers.get("upload-length")]).toEqual([
    200,
    String(SECRET.length),
    String(LENGTH),
  ]);
  expect((await victim.asset(theirs.id)).state).toBe("pending_upload");
}

test.each(METHODS)(
  "%s never reaches the victim's upload, wherever its id stands",
  async (_, method, headers) => {
    for (const [name, target] of TARGETS) {
      const own = await attacker.open(LENGTH);
      await attacker.patch(own.id, 0, OWN);
      const answer = await send(method, target(own.id, theirs.id), headers);
      expect(`${name}: ${answer.headers.get("upload-offset")}`).not.toBe(`${name}: ${SECRET.length}`);
      expect(`${name}: ${answer.headers.get("upload-length")}`).not.toBe(`${name}: 999999`);
      await expectUntouched();
      await attacker.call("DELETE", `/v1/uploads/${own.id}`, { headers: attacker.tus() });
    }
    server.expectUnharmed({ maxProbeMs: 500 });
  },
  60_000,
);

test("the attacker's own upload continues, through such an address too, and in parallel with the victim's", async () => {
  const own = await attacker.open(LENGTH);
  const target = `/v1/uploads/${own.id.toUpperCase()}?x=/${theirs.id}`;
  const rest = new Uint8Array(LENGTH - 50);
  const patches = Array.from({ length: 6 }, () => send("PATCH", target, { "Upload-Offset": "0" }));
  const answers = await Promise.all(patches);
  expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
  const [more, mine] = await Promise.all([
    victim.patch(theirs.id, SECRET.length, EVIL.slice(0, 0)),
    attacker.patch(own.id, EVIL.length, rest),
  ]);
  expect([more.status, mine.status, mine.headers.get("upload-offset")]).toEqual([204, 204, String(LENGTH)]);
  expect((await attacker.asset(own.id)).upload_url).toBeNull();
  await expectUntouched();
}, 30_000);

test("requests that wait for an upload, and send data that is not read, take no memory", async () => {
  const own = await attacker.open(2_000_000_000);
  const grownBefore = server.memoryGrowthMegabytes();
  const head = (offset: number) =>
    [
      `PATCH /v1/uploads/${own.id} HTTP/1.1`,
      "Host: x",
      `Authorization: Bearer ${attacker.key}`,
      "Tus-Resumable: 1.0.0",
      `Upload-Offset: ${offset}`,
      "Content-Type: application/offset+octet-stream",
      `Content-Length: ${2_000_000_000 - offset}`,
      "\r\n",
    ].join("\r\n");
  const holder = await openConnection(server.url(), head(0));
  holder.socket.write(Buffer.alloc(100));
  await Bun.sleep(200);
  const waiting = await Promise.all(Array.from({ length: 24 }, () => openConnection(server.url(), head(100))));
  for (const { socket } of waiting) socket.write(Buffer.alloc(10_000_000));
  await untilUnchanged(() => waiting.reduce((bytes, { socket }) => bytes + socket.writableLength, 0));
  for (const { socket } of [holder, ...waiting]) socket.destroy();
  expect(server.memoryGrowthMegabytes() - grownBefore).toBeLessThan(MAX_WAITING_MEGABYTES);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 30_000);
