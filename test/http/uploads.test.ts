import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rm, symlink } from "node:fs/promises";
import { connect } from "node:net";
import { findFileSize } from "../../src/lib/file-size";
import { until } from "../until";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID, outcome, tryCall } from "./outcome";
import type { Asset, Paged, Project } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let bytes: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  server = await harness();
  bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
});
beforeEach(async () => {
  anna = await server.user();
});
afterAll(() => server[Symbol.asyncDispose]());

const head = (user: Client, id: string) => user.call("HEAD", `/v1/uploads/${id}`, { headers: user.tus() });
const offsetOf = async (user: Client, id: string) => (await head(user, id)).headers.get("upload-offset");
const OFFSET_TYPE = "application/offset+octet-stream";

/**
 * Sends the head of a PATCH and part of its body over a raw connection, and closes it as soon as `cutWhen` returns
 * true.
 */
async function cutOff(id: string, announced: number, part: Uint8Array, cutWhen: () => Promise<boolean>): Promise<void> {
  const { hostname, port } = new URL(server.url());
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  const lines = [
    `PATCH /v1/uploads/${id} HTTP/1.1`,
    `Host: ${hostname}`,
    `Authorization: Bearer ${anna.key}`,
    "Tus-Resumable: 1.0.0",
    `Content-Type: ${OFFSET_TYPE}`,
    "Upload-Offset: 0",
    `Content-Length: ${announced}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  socket.write(part);
  await until("the bytes on the server", cutWhen);
  socket.destroy();
}

describe("HEAD of an upload", () => {
  test("returns offset, length, expiry and metadata", async () => {
    const { id } = await anna.open(1_000, { filename: "a.wav" });
    await anna.patch(id, 0, bytes.slice(0, 300));
    const reply = await head(anna, id);
    expect([reply.status, reply.body]).toEqual([200, ""]);
    expect(reply.headers.get("upload-offset")).toBe("300");
    expect(reply.headers.get("upload-length")).toBe("1000");
    expect(reply.headers.get("upload-metadata")).toBe(`filename ${btoa("a.wav")}`);
    expect(reply.headers.get("tus-resumable")).toBe("1.0.0");
    expect(reply.headers.get("cache-control")).toBe("no-store");
    const days = (Date.parse(reply.headers.get("upload-expires")!) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.9);
    expect(days).toBeLessThan(7.1);
  });

  test("works before the first byte and after the last", async () => {
    const { id } = await anna.open(bytes.length);
    expect(await offsetOf(anna, id)).toBe("0");
    await anna.patch(id, 0, bytes);
    expect(await offsetOf(anna, id)).toBe(String(bytes.length));
  });

  test.each([
    ["without a version", {}],
    ["with another version", { "Tus-Resumable": "0.2.2" }],
  ])("%s is a 412", async (_, headers) => {
    const { id } = await anna.open(1_000);
    const asked = await anna.call("HEAD", `/v1/uploads/${id}`, { headers });
    expect([asked.status, asked.headers.get("tus-version"), asked.headers.get("tus-resumable")]).toEqual([
      412,
      "1.0.0",
      "1.0.0",
    ]);
    expect(outcome(await anna.call("DELETE", `/v1/uploads/${id}`, { headers }))).toBe("412 precondition_failed");
    expect(outcome(await anna.call("PATCH", `/v1/uploads/${id}`, { headers, body: "x" }))).toBe(
      "412 precondition_failed",
    );
  });

  test.each([
    ["of an unknown ID", NO_ID],
    ["of an invalid ID", "not-an-id"],
    ["of a path", "..%2F..%2Foffcut.db"],
  ])("%s is a 404", async (_, id) => {
    expect((await head(anna, id)).status).toBe(404);
  });
});

describe("PATCH of an upload", () => {
  test("in several requests uploads the whole file and finishes it", async () => {
    const { id } = await anna.open(bytes.length);
    const cuts = [0, 1, 100, 40_000, bytes.length];
    for (const [n, start] of cuts.slice(0, -1).entries()) {
      const reply = await anna.patch(id, start, bytes.slice(start, cuts[n + 1]));
      expect([reply.status, reply.headers.get("upload-offset")]).toEqual([204, String(cuts[n + 1])]);
      expect(reply.headers.get("tus-resumable")).toBe("1.0.0");
    }
    const asset = await anna.prepared(id);
    expect(asset).toMatchObject({ state: "ready", type: "audio", size_bytes: bytes.length, upload_url: null });
    const stored = await fetch(asset.download_url!);
    expect(Buffer.compare(Buffer.from(await stored.arrayBuffer()), Buffer.from(bytes))).toBe(0);
  });

  test("can be sent as POST with X-HTTP-Method-Override", async () => {
    const { id } = await anna.open(bytes.length);
    const post = (method: string | null, offset: number, body?: Uint8Array<ArrayBuffer>) =>
      anna.call("POST", `/v1/uploads/${id}`, {
        ...(body ? { body } : {}),
        headers: anna.tus({
          ...(method === null ? {} : { "X-HTTP-Method-Override": method }),
          "Content-Type": "application/offset+octet-stream",
          "Upload-Offset": String(offset),
        }),
      });
    expect((await post("PATCH", 0, bytes.slice(0, 30_000))).headers.get("upload-offset")).toBe("30000");
    expect((await post("HEAD", 0)).headers.get("upload-offset")).toBe("30000");
    expect(outcome(await post("PATCH", 7, bytes.slice(0, 10)))).toBe("409 conflict");
    expect(outcome(await post(null, 30_000, bytes.slice(30_000)))).toBe("404 not_found");
    expect(outcome(await post("GET", 30_000))).toBe("404 not_found");
    expect((await post("patch", 30_000, bytes.slice(30_000))).status).toBe(204);
    const asset = await anna.prepared(id);
    expect(asset.state).toBe("ready");
    const other = await anna.open(1_000);
    const headers = anna.tus({ "X-HTTP-Method-Override": "DELETE" });
    expect((await anna.call("POST", `/v1/uploads/${other.id}`, { headers })).status).toBe(204);
    expect((await head(anna, other.id)).status).toBe(404);
  });

  test("detects the type after the first chunk", async () => {
    const asset = await anna.open(bytes.length);
    expect(asset).toMatchObject({ type: null, extension: null, content_type: null, size_bytes: null });
    await anna.patch(asset.id, 0, bytes.slice(0, 20_000));
    expect(await anna.asset(asset.id)).toMatchObject({
      state: "pending_upload",
      type: "audio",
      extension: "wav",
      size_bytes: null,
      duration_seconds: null,
    });
  });

  type Try = { offset: string; body: number; type?: string; headers?: Record<string, string> };
  test.each<[string, Try, string]>([
    ["at a later offset", { offset: "200", body: 10 }, "409 conflict"],
    ["at an earlier offset", { offset: "50", body: 10 }, "409 conflict"],
    ["past the length", { offset: "100", body: 901 }, "413 payload_too_large"],
    [
      "of another content type",
      { offset: "100", body: 10, type: "application/octet-stream" },
      "415 unsupported_media_type",
    ],
    ["of JSON", { offset: "100", body: 10, type: "application/json" }, "415 unsupported_media_type"],
    ["at a negative offset", { offset: "-1", body: 10 }, "400 bad_request"],
    ["at an invalid offset", { offset: "1e2", body: 10 }, "400 bad_request"],
    ["at an empty offset", { offset: "", body: 10 }, "400 bad_request"],
  ])("%s is refused and changes nothing", async (_, { offset, body, type }, expected) => {
    const { id } = await anna.open(1_000);
    await anna.patch(id, 0, bytes.slice(0, 100));
    const headers = { "Upload-Offset": offset, ...(type === undefined ? {} : { "Content-Type": type }) };
    expect(outcome(await anna.patch(id, 0, bytes.slice(0, body), headers))).toBe(expected);
    expect(await offsetOf(anna, id)).toBe("100");
  });

  test("without end stores no more than the length", async () => {
    const { id } = await anna.open(1_000);
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(bytes.slice(0, 4_000));
        controller.close();
      },
    });
    expect(outcome(await anna.patch(id, 0, endless))).toBe("413 payload_too_large");
    expect(Number(await offsetOf(anna, id))).toBeLessThanOrEqual(1_000);
  });

  test("after the end repeats the response for an empty body and refuses any other", async () => {
    const id = await anna.upload(bytes);
    const end = bytes.length;
    const again = await anna.patch(id, end, "");
    expect([again.status, again.headers.get("upload-offset")]).toEqual([204, String(end)]);
    expect(outcome(await anna.patch(id, 0, bytes))).toBe("409 conflict");
    expect(outcome(await anna.patch(id, end, "more"))).toBe("413 payload_too_large");
    expect((await anna.prepared(id)).state).toBe("ready");
  });

  test("that breaks off keeps the received bytes and can be resumed", async () => {
    const { id } = await anna.open(bytes.length);
    const part = 30_000;
    const path = server.services().folders.upload(id);
    await cutOff(id, bytes.length, bytes.slice(0, part), async () => ((await findFileSize(path)) ?? 0) > 0);
    const offset = Number(await offsetOf(anna, id));
    expect(offset).toBeGreaterThan(0);
    expect(offset).toBeLessThanOrEqual(part);
    expect((await anna.patch(id, offset, bytes.slice(offset))).status).toBe(204);
    expect((await anna.prepared(id)).state).toBe("ready");
    expect(Buffer.compare(await Bun.file(server.services().folders.media(id).source).bytes(), bytes)).toBe(0);
    expect(server.errors).toEqual([]);
  });

  test("sent twice at the same time results in the correct file", async () => {
    const { id } = await anna.open(bytes.length);
    const replies = await Promise.all([1, 2, 3].map(() => anna.patch(id, 0, bytes)));
    expect(replies.filter((reply) => reply.status === 204).length).toBeGreaterThanOrEqual(1);
    for (const reply of replies) expect(["204", "400 bad_request", "409 conflict"]).toContain(outcome(reply));
    expect((await anna.prepared(id)).state).toBe("ready");
    expect(Buffer.compare(await Bun.file(server.services().folders.media(id).source).bytes(), bytes)).toBe(0);
    expect(await server.events(id)).toEqual(["asset.ready from processing"]);
  });
});

test("a full disk is a 503 with Retry-After, and the upload can be resumed", async () => {
  const { id } = await anna.open(bytes.length);
  const path = server.services().folders.upload(id);
  // Every write to this device fails with ENOSPC.
  await symlink("/dev/full", path);
  const refused = await anna.patch(id, 0, bytes);
  expect(outcome(refused)).toBe("503 upstream_unavailable");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await anna.asset(id)).state).toBe("pending_upload");
  await rm(path);
  expect(await offsetOf(anna, id)).toBe("0");
  expect((await anna.patch(id, 0, bytes)).status).toBe(204);
  expect((await anna.prepared(id)).state).toBe("ready");
});

describe("DELETE of an upload", () => {
  test("deletes the asset and its bytes, and can be repeated", async () => {
    const { id } = await anna.open(1_000);
    await anna.patch(id, 0, bytes.slice(0, 100));
    const cancel = () => anna.call("DELETE", `/v1/uploads/${id}`, { headers: anna.tus() });
    expect((await cancel()).status).toBe(204);
    expect((await cancel()).status).toBe(204);
    expect(await tryCall(anna, "GET", `/v1/assets/${id}`)).toBe("404 not_found");
    expect((await head(anna, id)).status).toBe(404);
    expect(outcome(await anna.patch(id, 100, "x"))).toBe("404 not_found");
    expect(await Bun.file(server.services().folders.upload(id)).exists()).toBe(false);
  });

  test("that is complete keeps the asset", async () => {
    const id = await anna.upload(bytes);
    expect((await anna.call("DELETE", `/v1/uploads/${id}`, { headers: anna.tus() })).status).toBe(204);
    const asset = await anna.prepared(id);
    expect(asset.state).toBe("ready");
    expect((await fetch(asset.download_url!)).status).toBe(200);
  });

  test("of an unknown ID is a 204", async () => {
    for (const id of [NO_ID, "not-an-id"]) {
      expect((await anna.call("DELETE", `/v1/uploads/${id}`, { headers: anna.tus() })).status).toBe(204);
    }
  });
});

test("another user's upload is a 404, and deleting it changes nothing", async () => {
  const bert = await server.user();
  const { id } = await anna.open(1_000);
  expect((await head(bert, id)).status).toBe(404);
  expect(outcome(await bert.patch(id, 0, bytes.slice(0, 100)))).toBe("404 not_found");
  expect((await bert.call("DELETE", `/v1/uploads/${id}`, { headers: bert.tus() })).status).toBe(204);
  expect(await offsetOf(anna, id)).toBe("0");
});

describe("the number of unfinished uploads", () => {
  test("is limited; completed and cancelled uploads do not count, nor empty ones after an hour", async () => {
    await using small = await harness({ MAX_UPLOADS: "2" });
    const user = await small.user();
    const projectId = (await user.project()).id;
    const json = { project_id: projectId, size_bytes: bytes.length };
    const open = () => user.call<Asset>("POST", "/v1/assets", { json });
    const [started, empty] = [await open(), await open()];
    await user.patch(started.body.id, 0, bytes.slice(0, 100));
    expect(outcome(await open())).toBe("409 conflict");

    small.advance(3_600_001);
    const third = await open();
    expect(third.status).toBe(201);
    expect(outcome(await open())).toBe("409 conflict");

    await user.patch(started.body.id, 100, bytes.slice(100));
    expect((await open()).status).toBe(201);
    expect(outcome(await open())).toBe("409 conflict");
    await user.call("DELETE", `/v1/uploads/${third.body.id}`, { headers: user.tus() });
    expect((await open()).status).toBe(201);
    expect((await head(user, empty.body.id)).status).toBe(200);
  });

  test("is limited for simultaneous requests too, and for each user", async () => {
    await using small = await harness({ MAX_UPLOADS: "3" });
    const [first, second] = [await small.user(), await small.user()];
    const projectId = (await first.project()).id;
    const json = { project_id: projectId, size_bytes: 1_000 };
    const all = await Promise.all(Array.from({ length: 12 }, () => tryCall(first, "POST", "/v1/assets", json)));
    expect(all.filter((result) => result === "201")).toHaveLength(3);
    expect(new Set(all)).toEqual(new Set(["201", "409 conflict"]));
    expect((await second.open(1_000)).state).toBe("pending_upload");
  });
});

test("an upload without activity expires after seven days, and the next start deletes it", async () => {
  await using other = await harness();
  const user = await other.user();
  const { id } = await user.open(1_000);
  other.advance(6 * 86_400_000);
  await user.patch(id, 0, bytes.slice(0, 100));
  other.advance(6 * 86_400_000);
  expect(await offsetOf(user, id)).toBe("100");
  other.advance(86_400_001);
  expect((await head(user, id)).status).toBe(404);
  expect(outcome(await user.patch(id, 100, "x"))).toBe("404 not_found");
  expect(await tryCall(user, "GET", `/v1/assets/${id}`)).toBe("404 not_found");
  expect((await user.must<Paged<Asset>>("GET", "/v1/assets")).items).toEqual([]);
  const before = await user.must<Paged<Project>>("GET", "/v1/projects");
  await other.restart();
  // The expiry is not an activity of the project.
  expect(await user.must<Paged<Project>>("GET", "/v1/projects")).toEqual(before);
  expect(await Bun.file(other.services().folders.upload(id)).exists()).toBe(false);
});
