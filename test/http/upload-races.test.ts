/**
 * Bad days of uploads: clients that disappear, return immediately, send twice, cancel while they send, or send too
 * much.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { findFileSize } from "../../src/lib/file-size";
import { openConnection, parseAnswer, type RawConnection } from "../attacks/raw-request";
import { createRandom } from "../random";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { outcome } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

/** The holder of an upload gets 3 s to end when another request wants it. */
const MAX_TAKEOVER_MS = 10_000;

let server: Harness;
let anna: Client;
let file: Uint8Array<ArrayBuffer>;
let id: string;
beforeAll(async () => {
  server = await harness({ MAX_UPLOADS: "100" });
  file = (await wav(2)) as Uint8Array<ArrayBuffer>;
});
beforeEach(async () => {
  anna = await server.user();
  ({ id } = await anna.open(file.length));
});
afterAll(() => server[Symbol.asyncDispose]());

const folders = () => server.services().folders;
const sizeOf = () => findFileSize(folders().upload(id));
const storedFile = async () => Buffer.from(await Bun.file(folders().media(id).source).bytes());
const head = () => anna.call("HEAD", `/v1/uploads/${id}`, { headers: anna.tus() });
const cancel = () => anna.call("DELETE", `/v1/uploads/${id}`, { headers: anna.tus() });
const offsetOf = async () => Number((await head()).headers.get("upload-offset"));
const isAnswered = (connection: RawConnection) => connection.received().includes("\r\n\r\n");

/** Opens a PATCH that announces `length` bytes, null for chunks, and sends `part` of them. */
function openPatch(offset: number, length: number | null, part: Uint8Array): Promise<RawConnection> {
  const head = [
    `PATCH /v1/uploads/${id} HTTP/1.1`,
    "Host: x",
    `Authorization: Bearer ${anna.key}`,
    "Tus-Resumable: 1.0.0",
    "Content-Type: application/offset+octet-stream",
    `Upload-Offset: ${offset}`,
    length === null ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`,
  ];
  return openConnection(server.url(), Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), part]));
}

const chunkOf = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

/** Opens a PATCH whose first bytes the server has stored, and which continues. */
async function openHolder(part = 20_000): Promise<RawConnection> {
  const holder = await openPatch(0, file.length, file.subarray(0, part));
  await until("the first bytes", async () => (await sizeOf()) === part);
  return holder;
}

async function expectReady(): Promise<void> {
  expect((await anna.prepared(id)).state).toBe("ready");
  expect((await storedFile()).equals(Buffer.from(file))).toBe(true);
  expect(await server.events(id)).toEqual(["asset.ready from processing"]);
  expect(server.errors).toEqual([]);
}

describe("a client that resumes", () => {
  test("takes the upload over from a connection that is silent, and late bytes of that one are not stored", async () => {
    const silent = await openHolder();
    const asked = performance.now();
    expect(await offsetOf()).toBe(20_000);
    expect(performance.now() - asked).toBeLessThan(MAX_TAKEOVER_MS);
    expect((await anna.patch(id, 20_000, file.slice(20_000, 30_000))).status).toBe(204);
    silent.socket.write(new Uint8Array(file.length - 20_000).fill(9));
    await silent.closed;
    expect(await offsetOf()).toBe(30_000);
    expect((await anna.patch(id, 30_000, file.slice(30_000))).status).toBe(204);
    await expectReady();
  });

  test("at once after each disconnect, wherever that was, ends with the file that it sent", async () => {
    const random = createRandom(7);
    let sent = 0;
    for (let offset = 0; offset < file.length; ) {
      const part = Math.min(file.length - offset, 1 + random(20_000));
      const connection = await openPatch(offset, file.length - offset, file.subarray(offset, offset + part));
      // Half of the bytes are still on their way when some of the connections break.
      if (random(2) === 0) await until("some bytes", async () => (await sizeOf()) !== offset);
      if (offset + part < file.length) connection.socket.destroy();
      else await until("the answer", () => isAnswered(connection));
      const next = await offsetOf();
      expect(next).toBeGreaterThanOrEqual(offset);
      // A request that had not begun when its connection broke may still store its bytes.
      sent = Math.max(sent, offset + part);
      expect(next).toBeLessThanOrEqual(sent);
      offset = next;
    }
    await expectReady();
  });

  test("finds the upload finished if the request that sent the last bytes ended before it could finish it", async () => {
    // As a crash, or a refusal after the last byte, leaves it. A client sends nothing after it has read this offset.
    await writeFile(folders().upload(id), file);
    expect(await offsetOf()).toBe(file.length);
    await expectReady();
  });
});

describe("a request that has moved the complete file, and failed before it could update the database,", () => {
  const afterwards: [string, () => Promise<{ status: number; headers: Headers }>][] = [
    ["HEAD", () => head()],
    ["an empty PATCH", () => anna.patch(id, file.length, "")],
  ];
  test.each(afterwards)("is completed by %s", async (_, send) => {
    await head();
    const { store } = server.services();
    const { write } = store;
    // The first write of a small upload is the one that finishes it.
    store.write = () => Promise.reject(Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" }));
    try {
      expect(outcome(await anna.patch(id, 0, file))).toBe("503 upstream_unavailable");
      expect(await findFileSize(folders().media(id).source)).toBe(file.length);
      expect((await send()).status).toBe(503);
    } finally {
      store.write = write;
    }
    const { status, headers } = await send();
    expect([status < 300, headers.get("upload-offset")]).toEqual([true, String(file.length)]);
    await expectReady();
  });

  test("is cancelled by DELETE", async () => {
    await mkdir(folders().media(id).dir, { recursive: true });
    await writeFile(folders().media(id).source, file);
    expect((await cancel()).status).toBe(204);
    expect((await anna.call("GET", `/v1/assets/${id}`)).status).toBe(404);
    await server.idle();
    expect(await server.leftovers(id)).toEqual([]);
  });
});

describe("two PATCHes at once", () => {
  test("with different bytes: the file is that of one of them", async () => {
    const other = file.map((byte, at) => (at < 100 ? byte : byte ^ 0xff));
    const replies = await Promise.all([anna.patch(id, 0, file), anna.patch(id, 0, other as Uint8Array<ArrayBuffer>)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([204, 409]);
    await until("the end of the upload", async () => (await anna.asset(id)).state !== "pending_upload");
    const sent = replies[0]!.status === 204 ? file : other;
    expect((await storedFile()).equals(Buffer.from(sent))).toBe(true);
  });
});

describe("a DELETE while a PATCH is sending", () => {
  test.each([
    ["the transfer URL", () => cancel()],
    ["the asset", () => anna.call("DELETE", `/v1/assets/${id}`)],
  ])("to %s removes everything, and late bytes create nothing", async (_, remove) => {
    const sender = await openHolder();
    expect((await remove()).status).toBe(204);
    sender.socket.write(file.subarray(20_000));
    await until("the answer", () => isAnswered(sender));
    expect((await anna.call("GET", `/v1/assets/${id}`)).status).toBe(404);
    expect(outcome(await anna.patch(id, 20_000, "x"))).toBe("404 not_found");
    await server.idle();
    expect(await server.leftovers(id)).toEqual([]);
    expect(server.errors).toEqual([]);
  });

  test("whose last bytes arrive then: both end, and the asset is complete or gone", async () => {
    for (let round = 0; round < 10; round++) {
      ({ id } = await anna.open(file.length));
      const sender = await openHolder();
      const removing = cancel();
      sender.socket.write(file.subarray(20_000));
      expect((await removing).status).toBe(204);
      await until("the answer", () => isAnswered(sender));
      const { status } = await anna.call("GET", `/v1/assets/${id}`);
      if (status === 200) expect((await anna.prepared(id)).state).toBe("ready");
      else {
        await server.idle();
        expect(await server.leftovers(id)).toEqual([]);
      }
      expect(server.errors).toEqual([]);
    }
  });
});

describe("more bytes than the upload has", () => {
  test("that are announced are refused before they arrive", async () => {
    await anna.patch(id, 0, file.slice(0, 100));
    const connection = await openPatch(100, file.length - 99, new Uint8Array());
    await until("the answer", () => isAnswered(connection));
    expect(parseAnswer(connection.received()).status).toBe(413);
    connection.socket.destroy();
    expect(await offsetOf()).toBe(100);
  });

  test("in chunks are refused, and what fits is kept: the upload can be finished", async () => {
    const connection = await openPatch(0, null, chunkOf(file));
    await until("all bytes", async () => (await sizeOf()) === file.length);
    connection.socket.write(chunkOf(new Uint8Array(1)));
    await until("the answer", () => isAnswered(connection));
    expect(parseAnswer(connection.received()).status).toBe(413);
    connection.socket.destroy();
    expect(await offsetOf()).toBe(file.length);
    await expectReady();
  });
});
