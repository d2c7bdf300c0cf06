import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { findFileSize } from "../../src/lib/file-size";
import { createApiKey, disableUser, listKeys, revokeKey } from "../../src/work/access/command-accounts";
import { openConnection, parseAnswer } from "../attacks/raw-request";
import { until } from "../until";
import { createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { tryCall } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
beforeAll(async () => {
  server = await harness();
});
afterAll(() => server[Symbol.asyncDispose]());

const emailOf = (userId: string) => `${userId}@example.test`;
/** Creates an account with two keys. */
async function secondKey(expires: string | null = null) {
  const owner = await server.user();
  const email = emailOf(owner.userId);
  const made = await createApiKey(server.services(), { email, name: "second", expires });
  return { owner, email, id: made.id, client: createClient(server.url, made.key, owner.userId) };
}
const OK = "200";
const REFUSED = "401 unauthenticated";
const me = (client: ReturnType<typeof createClient>) => tryCall(client, "GET", "/v1/users/me");

test("a revoked key is refused on the next request, other keys of the account are not", async () => {
  const { owner, id, client } = await secondKey();
  expect(await me(client)).toStartWith(OK);
  await revokeKey(server.services(), { id });
  expect(await me(client)).toBe(REFUSED);
  expect(await me(owner)).toStartWith(OK);
});

test("a key that was just used is refused after its expiry", async () => {
  const expires = new Date(server.services().now() + 60_000).toISOString();
  const { owner, client } = await secondKey(expires);
  expect(await me(client)).toStartWith(OK);
  server.advance(61_000);
  expect(await me(client)).toBe(REFUSED);
  expect(await me(owner)).toStartWith(OK);
});

test("a disabled account's keys, uploads and links are refused until it is enabled", async () => {
  const user = await server.user();
  const email = emailOf(user.userId);
  const { download_url: link } = await user.ready(await wav(1));
  const upload = await user.open(1_000);
  expect((await user.patch(upload.id, 0, new Uint8Array(500))).status).toBe(204);
  const other = await server.user();

  await disableUser(server.services(), { email, disabled: true });
  expect(await me(user)).toBe(REFUSED);
  expect((await user.patch(upload.id, 500, new Uint8Array(500))).status).toBe(401);
  expect((await fetch(link!)).status).toBe(404);
  expect(await me(other)).toStartWith(OK);

  await disableUser(server.services(), { email, disabled: false });
  expect(await me(user)).toStartWith(OK);
  expect((await fetch(link!)).status).toBe(200);
  expect((await user.patch(upload.id, 500, new Uint8Array(500))).status).toBe(204);
});

test("a running upload ends when its key is revoked and can be resumed with another key", async () => {
  const { owner, id, client } = await secondKey();
  const length = 1_000_000;
  const upload = await client.open(length);
  const headers = { ...client.tus(), "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream" };
  const lines = Object.entries({ ...headers, Authorization: `Bearer ${client.key}`, "Content-Length": length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const connection = await openConnection(
    server.url(),
    `PATCH /v1/uploads/${upload.id} HTTP/1.1\r\nHost: x\r\n${head}\r\n`,
  );
  connection.socket.write(Buffer.alloc(1_000));
  const offset = async () =>
    Number(
      (await owner.call("HEAD", `/v1/uploads/${upload.id}`, { headers: owner.tus() })).headers.get("upload-offset"),
    );
  const path = server.services().folders.upload(upload.id);
  await until("the first bytes", async () => (await findFileSize(path)) === 1_000);
  await revokeKey(server.services(), { id });
  await until("the refusal", async () => {
    connection.socket.write(Buffer.alloc(100));
    return connection.received().includes("\r\n\r\n");
  });
  expect(parseAnswer(connection.received()).status).toBe(401);
  connection.socket.destroy();
  const kept = await offset();
  expect(kept).toBeLessThan(length);
  expect((await owner.patch(upload.id, kept, new Uint8Array(length - kept))).status).toBe(204);
});

test("the last use is stored once a minute without invalidating cached keys", async () => {
  const { email, id, client } = await secondKey();
  const lastUse = async () => {
    const keys = await listKeys(server.services(), { email });
    return Date.parse(keys.find((key) => key.id === id)!.last_used_at ?? "") || 0;
  };
  const { store, now } = server.services();
  const revision = store.accountsRevision();
  const first = now();
  await me(client);
  await until("the first use", async () => (await lastUse()) >= first);
  server.advance(61_000);
  const second = now();
  await me(client);
  await until("the second use", async () => (await lastUse()) >= second);
  expect(store.accountsRevision()).toBe(revision);
});

test("a key that is revoked while its body is on the way does nothing", async () => {
  const owner = await server.user();
  const { id, key } = await createApiKey(server.services(), { email: emailOf(owner.userId), name: "slow" });
  const body = JSON.stringify({ name: "Too late" });
  const head = [
    "POST /v1/projects HTTP/1.1",
    "Host: offcut",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ].join("\r\n");
  const connection = await openConnection(server.url(), `${head}\r\n\r\n${body.slice(0, 5)}`);
  const isAuthenticated = async () => {
    const keys = await listKeys(server.services(), { email: emailOf(owner.userId) });
    return keys.find((one) => one.id === id)?.last_used_at !== null;
  };
  await until("the start of the request", isAuthenticated);
  await revokeKey(server.services(), { id });
  connection.socket.write(body.slice(5));
  await connection.closed;
  expect(parseAnswer(connection.received()).status).toBe(401);
  expect((await owner.call<{ items: unknown[] }>("GET", "/v1/projects")).body.items).toEqual([]);
});
