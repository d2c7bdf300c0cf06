/** Signed PUT links: malformed bodies, several simultaneous ones, and plans crafted to harm their reader. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isFullSize } from "../full-size";
import type { Client } from "../http/client";
import { dashboardOutcome } from "../http/outcome";
import type { AssetDetail } from "../http/resources";
import type { SignedUpload } from "../http/upload-clients";
import { until } from "../until";
import { type AttackedServer, startAttackedServer } from "./attacked-server";
import { openConnection, parseAnswer } from "./raw-request";

const MIB = 1024 ** 2;
const QUOTA_BYTES = 200 * MIB;
const MAX_MEGABYTES = 200;

let server: AttackedServer;
let user: Client;
beforeAll(async () => {
  server = await startAttackedServer({ STORAGE_QUOTA_BYTES: String(QUOTA_BYTES), MAX_UPLOADS: "50" });
  user = await server.user();
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const createLink = (type = "audio") => user.must<SignedUpload>("POST", "/api/v1/assets/upload-url", { json: { type } });
const send = async ({ upload }: SignedUpload, body: Uint8Array<ArrayBuffer>) =>
  dashboardOutcome(await user.call("PUT", upload.url, { body }));
const openPut = ({ upload }: SignedUpload, framing: string) => {
  const { pathname, search } = new URL(upload.url);
  return openConnection(server.url(), `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`);
};
const uploaded = () => readdir(join(server.data, "uploads"));

test("of many PUTs that fit into the quota one by one, only as many as fit together are taken", async () => {
  const links = await Promise.all(Array.from({ length: 6 }, () => createLink()));
  const body = new Uint8Array(60 * MIB);
  const outcomes = await Promise.all(links.map((link) => send(link, body)));
  expect(outcomes.filter((one) => one === "204")).toHaveLength(3);
  expect(outcomes.filter((one) => one === "409 conflict")).toHaveLength(3);
  expect(await uploaded()).toEqual([]);
  for (const { asset } of links) await user.must("DELETE", `/api/v1/assets/${asset.id}`);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 60_000);

test("several PUTs to one link: one writes, and the bodies of the others take no memory", async () => {
  const link = await createLink();
  const before = server.memoryGrowthMegabytes();
  const opened = await Promise.all(Array.from({ length: 12 }, () => openPut(link, "Transfer-Encoding: chunked")));
  for (const { socket } of opened) {
    socket.write(`${(10 * MIB).toString(16)}\r\n`);
    socket.write(Buffer.alloc(10 * MIB));
  }
  // A refusal can be lost when the connection is closed while its body arrives.
  let closed = 0;
  for (const one of opened) void one.closed.then(() => closed++);
  const count = () => Math.max(closed, opened.filter((one) => one.received() !== "").length);
  await until("all refusals but one", () => count() >= 11);
  const statuses = opened.filter((one) => one.received() !== "").map((one) => parseAnswer(one.received()).status);
  expect(statuses.filter((status) => status !== 409)).toEqual([]);
  await until("the file of the one that writes", async () => (await uploaded()).length > 0);
  expect(await uploaded()).toEqual([link.asset.id]);
  for (const { socket } of opened) socket.destroy();
  await until("nothing left", async () => (await uploaded()).length === 0);
  expect(server.memoryGrowthMegabytes() - before).toBeLessThan(MAX_MEGABYTES);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 60_000);

test.each<[string, string, string]>([
  ["a length and chunks", "Content-Length: 100\r\nTransfer-Encoding: chunked", "0\r\n\r\n"],
  ["two lengths", "Content-Length: 100\r\nContent-Length: 5", "x".repeat(100)],
  ["a length that is no number", "Content-Length: 1e9", "x".repeat(100)],
  ["a negative length", "Content-Length: -5", "x".repeat(100)],
  ["a chunk of no size", "Transfer-Encoding: chunked", "zz\r\n"],
  ["a chunk of a size beyond all", "Transfer-Encoding: chunked", "fffffffffffffffff\r\n"],
  ["a length beyond all", `Content-Length: ${"9".repeat(18)}`, "x".repeat(100)],
])("%s: no file is taken", async (_, framing, body) => {
  const link = await createLink();
  const connection = await openPut(link, framing);
  connection.socket.write(body);
  await Promise.race([connection.closed, until("an answer", () => connection.received() !== "")]);
  connection.socket.destroy();
  expect(connection.received()).not.toContain(" 204 ");
  expect((await user.must<AssetDetail>("GET", `/api/v1/assets/${link.asset.id}`)).state).toBe("pending_upload");
  await user.must("DELETE", `/api/v1/assets/${link.asset.id}`);
  server.expectUnharmed({ maxProbeMs: 500 });
});

/** 16 MiB of text made of one part again and again, between a head and a tail. */
const bomb = (head: string, part: string, tail = ""): Uint8Array<ArrayBuffer> => {
  const count = Math.floor((16 * MIB - head.length - tail.length) / part.length);
  return new Uint8Array(Buffer.from(head + part.repeat(count) + tail));
};
const ALL_BOMBS: [string, () => Uint8Array<ArrayBuffer>][] = [
  ["lists in lists", () => bomb("", "[")],
  ["objects in objects", () => bomb("", '{"plan":')],
  ["elements that all fail", () => bomb('{"segments":[', "0,", "0]}")],
  ["one long name", () => bomb('{"', "x", '":0}')],
  ["objects without fields", () => bomb('{"segments":[', "{},", "{}]}")],
  ["one long number", () => bomb('{"segments":', "9", "}")],
  ["escapes", () => bomb('{"segments":[{"start":0,"end":1,"text":"', "\\u0000", '"}]}')],
  ["many names", () => new Uint8Array(Buffer.from(`{${Array.from({ length: 900_000 }, (_, n) => `"k${n}":0`)}}`))],
];

const BOMBS = isFullSize ? ALL_BOMBS : ALL_BOMBS.filter((_, n) => n % 2 === 0);

test("plans crafted to harm their reader fail with unsupported_media and stall no other user", async () => {
  const links = await Promise.all(BOMBS.map(() => createLink("cut_file")));
  for (const [n, [, make]] of BOMBS.entries()) expect(await send(links[n]!, make())).toBe("204");
  const ended = await Promise.all(
    links.map(({ asset }, n) =>
      until(
        `the end of ${BOMBS[n]![0]}`,
        async () => {
          const { state, error_code } = await user.must<AssetDetail>("GET", `/api/v1/assets/${asset.id}`);
          return state === "processing" ? null : [BOMBS[n]![0], state, error_code];
        },
        60,
      ),
    ),
  );
  const expected = BOMBS.map(([name]) =>
    name === "escapes" ? [name, "ready", null] : [name, "failed", "unsupported_media"],
  );
  expect(ended).toEqual(expected);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 120_000);
