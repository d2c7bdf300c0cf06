/**
 * The TUS library on its own, which takes an upload's ID from the URL of the request: without the checks that this
 * server makes before it, and with the store as the only protection.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import { AssetUploadStore, type AuthorizedUpload } from "../../src/http/uploads/tus-library";
import { createUploadSession } from "../../src/work/uploads/session";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { NO_ID } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

const LENGTH = 1_000;
const SECRET = new Uint8Array(300).fill(7);
const OWN = new Uint8Array(100).fill(1);

let server: Harness;
let victim: Client;
let attacker: Client;
let theirs: string;
/** An upload of the same user as the authorized one. */
let another: string;
beforeAll(async () => {
  server = await harness({ MAX_UPLOADS: "1000" });
  [victim, attacker] = [await server.user(), await server.user()];
  theirs = (await victim.open(LENGTH)).id;
  await victim.patch(theirs, 0, SECRET);
  another = (await attacker.open(LENGTH)).id;
  await attacker.patch(another, 0, SECRET);
});
afterAll(() => server[Symbol.asyncDispose]());

let own: string;
beforeEach(async () => {
  own = (await attacker.open(LENGTH)).id;
  await attacker.patch(own, 0, OWN);
});

const pathOf = (id: string) => server.services().folders.upload(id);
const readSecret = async (id = theirs) => Buffer.from(await Bun.file(pathOf(id)).bytes());
const authorize = (workspaceId: string, id: string): AuthorizedUpload => ({
  workspaceId,
  id,
  session: createUploadSession(server.services(), pathOf(id)),
  transfer: { offset: 0, announced: null },
});
const storeOf = (workspaceId: string, id: string) =>
  new AssetUploadStore(server.services(), authorize(workspaceId, id));

const call = (datastore: AssetUploadStore, method: string, url: string, headers: Record<string, string> = {}) =>
  new Server({ path: "/uploads", datastore }).handleWeb(
    new Request(`http://offcut${url}`, {
      method,
      headers: {
        "Tus-Resumable": "1.0.0",
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": String(SECRET.length),
        ...headers,
      },
      ...(method === "PATCH" || method === "POST" ? { body: new Uint8Array(50).fill(9) } : {}),
    }),
  );

const encode = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join("");

/** URLs from which the library takes another ID than the authorized one. */
const URLS: [string, (mine: string, other: string) => string][] = [
  ["the ID itself", (_, other) => `/uploads/${other}`],
  ["an encoded ID", (_, other) => `/uploads/${encode(other)}`],
  ["an ID in capitals", (_, other) => `/uploads/${other.toUpperCase()}`],
  ["a query", (mine, other) => `/uploads/${mine}?x=/${other}`],
  ["a query with a slash at its end", (mine, other) => `/uploads/${mine}?x=/${other}/`],
  ["another segment", (mine, other) => `/uploads/${mine}/${other}`],
  ["an encoded query", (mine, other) => `/uploads/${mine}%3Fx=${other}`],
  ["an encoded slash", (mine, other) => `/uploads/${mine}%2F..%2F${other}`],
  ["a backslash", (mine, other) => `/uploads/${mine}%5C..%5C${other}`],
  ["a parent folder", (_, other) => `/uploads/..%2Fuploads%2F${other}`],
  ["the parent folder", () => "/uploads/%2E%2E"],
  ["the folder itself", () => "/uploads/."],
  ["the database", () => "/uploads/..%2Foffcut.db"],
  ["a NUL", (_, other) => `/uploads/${other}%00`],
  ["an unknown ID", () => `/uploads/${NO_ID}`],
];

describe.each(URLS)("%s", (_, url) => {
  test.each(["HEAD", "PATCH", "DELETE", "POST", "GET"])("%s reaches no other upload", async (method) => {
    for (const other of [theirs, another]) {
      const reply = await call(storeOf(attacker.userId, own), method, url(own, other), { "Upload-Length": "999" });
      expect([method, reply.status >= 400]).toEqual([method, true]);
      expect((await readSecret(other)).equals(Buffer.from(SECRET))).toBe(true);
    }
    expect((await readSecret(own)).equals(Buffer.from(OWN))).toBe(true);
    expect(await Bun.file(pathOf(NO_ID)).exists()).toBe(false);
  });
});

test.each(["HEAD", "PATCH", "DELETE"])(
  "%s of another's upload is refused though its ID is the authorized one",
  async (method) => {
    expect((await call(storeOf(attacker.userId, theirs), method, `/uploads/${theirs}`)).status).toBe(404);
    expect((await readSecret()).equals(Buffer.from(SECRET))).toBe(true);
  },
);

test("the authorized upload continues", async () => {
  const store = storeOf(attacker.userId, own);
  const head = await call(store, "HEAD", `/uploads/${own}`);
  expect([head.status, head.headers.get("upload-offset"), head.headers.get("upload-length")]).toEqual([
    200,
    "100",
    "1000",
  ]);
  expect((await call(store, "PATCH", `/uploads/${own}`, { "Upload-Offset": "100" })).headers.get("upload-offset")).toBe(
    "150",
  );
  expect((await call(store, "DELETE", `/uploads/${own}`)).status).toBe(204);
  expect(await Bun.file(pathOf(own)).exists()).toBe(false);
});

test("each method of the store refuses another ID; nothing is created or read", async () => {
  const store = storeOf(attacker.userId, own);
  expect(store).toBeInstanceOf(FileStore);
  const refused = { status_code: 404 };
  const bytes = () => Readable.from([Buffer.from("x")]);
  for (const other of [theirs, another]) {
    await expect(store.getUpload(other)).rejects.toMatchObject(refused);
    await expect(store.write(bytes(), other, 300)).rejects.toMatchObject(refused);
    await expect(store.remove(other)).rejects.toMatchObject(refused);
    await expect(store.declareUploadLength(other, 5)).rejects.toMatchObject(refused);
  }
  await expect(store.declareUploadLength(own, 5)).rejects.toMatchObject(refused);
  await expect(store.create()).rejects.toMatchObject(refused);
  expect(() => store.read()).toThrow(expect.objectContaining(refused));
  // An offset other than the file's size would leave a hole in the file.
  await expect(store.write(bytes(), own, 300)).rejects.toMatchObject({ code: "conflict" });
  expect((await readSecret(own)).equals(Buffer.from(OWN))).toBe(true);
});

test("a store creates no folder", async () => {
  const services = server.services();
  const { folders } = services;
  const uploads = join(server.dataDir, "absent");
  new AssetUploadStore({ ...services, folders: { ...folders, uploads } }, authorize(attacker.userId, own));
  // The library's method would have started before this one.
  await mkdir(join(server.dataDir, "present"));
  expect(await Bun.file(uploads).exists()).toBe(false);
  await expect(rm(uploads, { recursive: true })).rejects.toMatchObject({ code: "ENOENT" });
});
