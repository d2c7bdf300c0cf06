/** Signed PUT links of the dashboard family. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { createSignedPut } from "../../src/http/uploads/signed-put";
import { disableUser } from "../../src/work/access/command-accounts";
import { openConnection, parseAnswer, type RawConnection } from "../attacks/raw-request";
import { until } from "../until";
import { emailOf } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt, dashboardOutcome, NO_ID } from "./outcome";
import type { Asset, AssetDetail, Paged, Project } from "./resources";
import { createLink, createSessionUser, formatMetadata, put, type SignedUpload } from "./upload-clients";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let bytes: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  bytes = (await wav(1)) as Uint8Array<ArrayBuffer>;
});
beforeEach(async () => {
  anna = await createSessionUser(server);
});
afterAll(() => server[Symbol.asyncDispose]());

const DAY = 86_400_000;
const read = (id: string, as = anna) => as.must<AssetDetail>("GET", `/api/v1/assets/${id}`);
const send = async (at: Harness, url: string, body: BodyInit | null = bytes) =>
  dashboardOutcome(await put(at, url, body));
const prepared = async (id: string) => {
  await server.idle();
  return read(id);
};
const stored = (id: string, at = server) => Bun.file(at.services().folders.upload(id));

/** Opens a connection that has sent the head of a PUT and `first`. `length` null: in chunks. */
function openPut({ upload }: SignedUpload, length: number | null, first: string | Uint8Array, at = server) {
  const { host, pathname, search } = new URL(upload.url);
  const framing = length === null ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const head = `PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${framing}\r\n\r\n`;
  return openConnection(at.url(), Buffer.concat([Buffer.from(head), Buffer.from(first)]));
}
const chunk = (data: Uint8Array) =>
  Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n")]);
const answerOf = (connection: RawConnection) =>
  until("the answer", () => (connection.received().includes("\r\n\r\n") ? parseAnswer(connection.received()) : null));

describe("a link", () => {
  test("takes the file with one PUT, which starts the preparation; afterwards it is refused", async () => {
    const { asset, upload } = await createLink(anna, { type: "video", content_type: "audio/wav" });
    expect(asset).toMatchObject({ kind: "source", state: "pending_upload", size_bytes: null, upload_url: null });
    expect(upload).toMatchObject({ method: "PUT", headers: { "Content-Type": "audio/wav" } });
    expect(Date.parse(upload.expires_at) - Date.now()).toBeGreaterThan(DAY - 60_000);
    expect(await send(server, upload.url)).toBe("204");
    const ready = await prepared(asset.id);
    expect(ready).toMatchObject({ state: "ready", type: "audio", size_bytes: bytes.length, cuttable: true });
    expect(await server.events(asset.id)).toEqual(["asset.ready from processing"]);
    expect(await send(server, upload.url)).toBe("409 conflict");
    expect(Buffer.from(await (await fetch(ready.download_url!)).arrayBuffer()).equals(bytes)).toBe(true);
    await anna.must("DELETE", `/api/v1/assets/${asset.id}`);
    expect(await send(server, upload.url)).toBe("404 not_found");
  });

  test("is stored nowhere, so that a replayed response has it anew", async () => {
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const [first, second] = [await createLink(anna, undefined, key), await createLink(anna, undefined, key)];
    expect(second).toEqual(first);
    const [row] = await server
      .services()
      .store.read.all<{ body: string }>(sql`SELECT body FROM idempotency ORDER BY created_at DESC LIMIT 1`);
    expect(row!.body).toContain(first.asset.id);
    expect(row!.body).not.toContain("signature");
    expect(server.log.some((line) => line.includes("signature"))).toBe(false);
  });

  test.each<[string, (url: URL) => unknown]>([
    ["another upload", (url) => (url.pathname = url.pathname.replace(/[0-9a-f-]{36}/, NO_ID))],
    ["no UUID", (url) => (url.pathname = url.pathname.replace(/[0-9a-f-]{36}/, "x"))],
    ["a later expiry", (url) => url.searchParams.set("expires", String(Number(url.searchParams.get("expires")) + 1))],
    ["an expiry that is no number", (url) => url.searchParams.set("expires", "1e12")],
    ["another signature", (url) => url.searchParams.set("signature", `${url.searchParams.get("signature")}A`)],
    ["no signature", (url) => url.searchParams.delete("signature")],
    ["no query", (url) => (url.search = "")],
  ])("with %s is refused", async (_, change) => {
    const { asset, upload } = await createLink(anna);
    const url = new URL(upload.url);
    change(url);
    expect(await send(server, url.href)).toBe("403 forbidden");
    expect((await read(asset.id)).state).toBe("pending_upload");
  });

  test("of another user's upload is not accepted in place of one's own", async () => {
    const [mine, other] = [await createLink(anna), await createLink(await createSessionUser(server))];
    const url = mine.upload.url.replace(mine.asset.id, other.asset.id);
    expect(await send(server, url)).toBe("403 forbidden");
  });

  test("does not work as a download link, nor a download link for an upload", async () => {
    const { asset, upload } = await createLink(anna);
    const query = new URL(upload.url).search;
    expect((await server.nobody.call("GET", `/files/assets/${asset.id}/source${query}`)).status).toBe(404);
    const download = server.services().links.sign({ kind: "assets", id: asset.id, what: "source" }, Date.now());
    expect(await send(server, upload.url.replace(query, new URL(download).search))).toBe("403 forbidden");
  });

  test("is not a TUS upload", async () => {
    const { asset } = await createLink(anna);
    const path = `/api/v1/uploads/${asset.id}`;
    expect((await anna.call("HEAD", path, { headers: anna.tus() })).status).toBe(404);
    expect((await anna.call("DELETE", path, { headers: anna.tus() })).status).toBe(204);
    expect((await read(asset.id)).state).toBe("pending_upload");
  });

  test("of a disabled account is refused, also while the file arrives", async () => {
    const link = await createLink(anna);
    const connection = await openPut(link, 1_000_000, bytes.slice(0, 1_000));
    await until("the first bytes", () => stored(link.asset.id).size > 0);
    const other = await createLink(anna);
    await disableUser(server.services(), { email: emailOf(anna), disabled: true });
    expect(await send(server, other.upload.url)).toBe("403 forbidden");
    expect((await answerOf(connection)).status).toBe(403);
    connection.socket.destroy();
    expect(await stored(link.asset.id).exists()).toBe(false);
  });

  test("expires after a day, and its asset with it", async () => {
    await using own = await harness();
    const user = await createSessionUser(own);
    const { asset, upload } = await createLink(user);
    own.advance(DAY + 1_000);
    expect(await send(own, upload.url)).toBe("403 forbidden");
    expect(await attempt(user, "GET", `/api/v1/assets/${asset.id}`)).toBe("404 not_found");
    expect((await user.must<Paged<Asset>>("GET", "/api/v1/assets")).items).toEqual([]);
    await own.restart();
    expect(await own.leftovers(asset.id)).toEqual([]);
  });
});

describe("a PUT", () => {
  test.each<[string, BodyInit | null, string]>([
    ["without bytes", null, "400 bad_request"],
    ["of 63 bytes", new Uint8Array(63), "400 bad_request"],
    ["of 64 bytes", new Uint8Array(64), "204"],
  ])("%s", async (_, body, expected) => {
    const { upload } = await createLink(anna);
    expect(await send(server, upload.url, body)).toBe(expected);
  });

  test("in chunks, whose length is not known before their end", async () => {
    const link = await createLink(anna);
    const connection = await openPut(link, null, chunk(bytes.slice(0, 5_000)));
    await until("the first bytes", () => stored(link.asset.id).size > 0);
    connection.socket.write(Buffer.concat([chunk(bytes.slice(5_000)), Buffer.from("0\r\n\r\n")]));
    expect((await answerOf(connection)).status).toBe(204);
    expect(await prepared(link.asset.id)).toMatchObject({ state: "ready", size_bytes: bytes.length });
  });

  test.each<[string, number | null, (link: SignedUpload) => Promise<RawConnection>]>([
    ["with a length", 1_000_000, (link) => openPut(link, 1_000_000, bytes.slice(0, 5_000))],
    ["in chunks", null, (link) => openPut(link, null, chunk(bytes.slice(0, 5_000)))],
    ["in the middle of a chunk", null, (link) => openPut(link, null, chunk(bytes).subarray(0, 5_000))],
  ])("that breaks off %s leaves nothing, and is sent again to the same link", async (_, __, open) => {
    for (const end of ["destroy", "resetAndDestroy", "end"] as const) {
      const link = await createLink(anna);
      const connection = await open(link);
      await until("the first bytes", () => stored(link.asset.id).size > 0);
      connection.socket[end]();
      await until("the end of the broken PUT", async () => !(await stored(link.asset.id).exists()));
      expect((await read(link.asset.id)).state).toBe("pending_upload");
      // The first one may still hold the upload for a moment.
      await until("the second PUT", async () => (await send(server, link.upload.url)) === "204");
      expect(await read(link.asset.id)).toMatchObject({ size_bytes: bytes.length });
    }
  });

  test("while another one is sending is refused, unless that one has paused", async () => {
    const link = await createLink(anna);
    const first = await openPut(link, 1_000_000, bytes.slice(0, 5_000));
    await until("the first bytes", () => stored(link.asset.id).size > 0);
    expect(await send(server, link.upload.url)).toBe("409 conflict");
    server.advance(11_000);
    expect(await send(server, link.upload.url)).toBe("204");
    first.socket.destroy();
    expect(await prepared(link.asset.id)).toMatchObject({ state: "ready", size_bytes: bytes.length });
  });

  test("that replaces a paused one is one, however many are sent at once", async () => {
    const link = await createLink(anna);
    const first = await openPut(link, 1_000_000, bytes.slice(0, 5_000));
    await until("the first bytes", () => stored(link.asset.id).size > 0);
    server.advance(11_000);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => send(server, link.upload.url)));
    expect(outcomes.toSorted()).toEqual(["204", ...Array(5).fill("409 conflict")]);
    first.socket.destroy();
    expect(await prepared(link.asset.id)).toMatchObject({ state: "ready", size_bytes: bytes.length });
  });

  test("of an asset that is deleted meanwhile ends with 404 and leaves nothing", async () => {
    const link = await createLink(anna);
    const connection = await openPut(link, 1_000_000, bytes.slice(0, 5_000));
    await until("the first bytes", () => stored(link.asset.id).size > 0);
    expect(await attempt(anna, "DELETE", `/api/v1/assets/${link.asset.id}`)).toBe("204");
    expect((await answerOf(connection)).status).toBe(404);
    connection.socket.destroy();
    expect(await server.leftovers(link.asset.id)).toEqual([]);
  });

  test("of a slow sender keeps its connection open, however often it pauses", async () => {
    const { asset } = await createLink(anna);
    const query = server.services().links.signUpload(asset.id, Date.now() + 60_000);
    const timeouts: number[] = [];
    const connection = { address: null, setIdleTimeout: (seconds: number) => timeouts.push(seconds) };
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        server.advance(500);
        controller.enqueue(new Uint8Array(10));
        sent++;
        if (sent === 20) controller.close();
      },
    });
    const request = new Request(`${server.url()}/?${query}`, { method: "PUT", body });
    const signedPut = createSignedPut(server.services());
    expect((await signedPut(request, asset.id, connection)).status).toBe(204);
    expect(timeouts.length).toBeGreaterThan(5);
    expect(new Set(timeouts)).toEqual(new Set([120]));
  });

  test("with a range is refused", async () => {
    const { upload } = await createLink(anna);
    const reply = await server.nobody.call("PUT", upload.url, {
      body: bytes,
      headers: { "Content-Range": "bytes 0-99/200" },
    });
    expect(dashboardOutcome(reply)).toBe("400 bad_request");
  });
});

describe("limits", () => {
  const lengthOf = (length: number | null) => (length === null ? "in chunks" : "with a length");
  test.each([null, 20_000])("of the size are checked while the file arrives (%p)", async (length) => {
    await using own = await harness({ MAX_UPLOAD_BYTES: "10000" });
    const link = await createLink(await createSessionUser(own));
    const data = new Uint8Array(20_000);
    const connection = await openPut(link, length, length === null ? chunk(data) : data, own);
    const answer = await answerOf(connection);
    expect([
      lengthOf(length),
      answer.status,
      JSON.parse(answer.body.replace(/^[0-9a-f]+\r\n/, "").trim()).code,
    ]).toEqual([lengthOf(length), 413, "payload_too_large"]);
    expect(await stored(link.asset.id, own).exists()).toBe(false);
  });

  test("of storage count what has been announced or has arrived; two PUTs at once cannot exceed the quota together", async () => {
    await using own = await harness({ STORAGE_QUOTA_BYTES: "100000" });
    const user = await createSessionUser(own);
    const [one, two] = [await createLink(user), await createLink(user)];
    const first = await openPut(one, 60_000, new Uint8Array(10_000), own);
    await until("the first bytes", () => stored(one.asset.id, own).size > 0);
    expect(await send(own, two.upload.url, new Uint8Array(60_000))).toBe("409 conflict");
    const second = await openPut(two, null, chunk(new Uint8Array(50_000)), own);
    expect((await answerOf(second)).status).toBe(409);
    first.socket.destroy();
    await until("the room", async () => (await send(own, two.upload.url, new Uint8Array(60_000))) === "204");
  });

  test("of the disk reserve are checked before and while the file arrives; nothing is kept", async () => {
    await using own = await harness();
    const user = await createSessionUser(own);
    const { asset, upload } = await createLink(user);
    const { disk } = own.services();
    const { availableBytes, claim } = disk;
    disk.availableBytes = () => 0;
    expect(await send(own, upload.url)).toBe("503 upstream_unavailable");
    expect(await attempt(user, "POST", "/api/v1/assets/upload-resumable")).toBe("503 upstream_unavailable");
    disk.availableBytes = availableBytes;
    let left = 2;
    disk.claim = (count) => left-- > 0 && claim(count);
    const reply = await put(own, upload.url, new Uint8Array(8 * 1024 ** 2));
    expect([dashboardOutcome(reply), reply.headers.has("retry-after")]).toEqual(["503 upstream_unavailable", true]);
    expect(await stored(asset.id, own).exists()).toBe(false);
    disk.claim = claim;
    expect(await send(own, upload.url)).toBe("204");
  });

  test("of unfinished uploads are those of all uploads of the workspace", async () => {
    await using own = await harness({ MAX_UPLOADS: "2" });
    const user = await createSessionUser(own);
    await createLink(user);
    expect(await attempt(user, "POST", "/api/v1/assets/upload-resumable")).toBe("201");
    expect(await attempt(user, "POST", "/api/v1/assets/upload-url", { type: "audio" })).toBe("409 conflict");
    expect(await attempt(user, "POST", "/api/v1/assets/upload-resumable")).toBe("409 conflict");
  });
});

describe("the request", () => {
  const create = (json: unknown, as = anna) => attempt(as, "POST", "/api/v1/assets/upload-url", json);

  test.each<[unknown, string]>([
    [{ type: "audio" }, "201"],
    [{ type: "rendered_video", content_type: null, project_id: null }, "201"],
    [{ type: "audio", content_type: "x".repeat(255) }, "201"],
    [{ type: "audio", content_type: "x".repeat(256) }, "422 body.content_type"],
    [{ type: "audio", content_type: "" }, "422 body.content_type"],
    [{ type: "audio", content_type: "é\n".repeat(127) }, "201"],
    [{ type: "source" }, "422 body.type"],
    [{}, "422 body.type"],
    [{ type: "audio", duration: 5 }, "422 body.duration"],
    [{ type: "audio", project_id: NO_ID }, "404 not_found"],
    [{ type: "audio", project_id: "x" }, "422 body.project_id"],
  ])("%j: %s", async (json, expected) => expect(await create(json)).toBe(expected));

  test("of an account without credits is 402, unless the file is not charged", async () => {
    const poor = await createSessionUser(server, 0);
    expect(await create({ type: "video" }, poor)).toBe("402 insufficient_credits");
    expect(await create({ type: "rendered_video" }, poor)).toBe("201");
    expect(await create({ type: "cut_file" }, poor)).toBe("201");
  });

  test("without a project goes to the Inbox, made on first use and again after it was archived", async () => {
    const first = await createLink(anna);
    const second = await createLink(anna);
    expect(second.asset.project_id).toBe(first.asset.project_id);
    const inbox = await anna.must<Project>("GET", `/api/v1/projects/${first.asset.project_id}`);
    expect(inbox).toMatchObject({ name: "Inbox", state: "active" });
    await anna.must("PATCH", `/api/v1/projects/${inbox.id}`, { json: { state: "archived" } });
    expect(await create({ type: "audio", project_id: inbox.id })).toBe("409 conflict");
    expect((await createLink(anna)).asset.project_id).not.toBe(inbox.id);
  });

  test("takes name, external ID and language from Upload-Metadata", async () => {
    const { asset } = await createLink(
      anna,
      { type: "audio" },
      {
        "Upload-Metadata": formatMetadata({ filename: "C:\\a\\talk.wav", external_id: "e-1", language: "DE" }),
      },
    );
    expect(await read(asset.id)).toMatchObject({ filename: "talk.wav", external_id: "e-1", language: "de" });
  });
});
