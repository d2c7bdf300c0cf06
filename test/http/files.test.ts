import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { truncate } from "node:fs/promises";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID } from "./outcome";
import type { AssetDetail } from "./resources";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let asset: AssetDetail;
let bytes: Uint8Array;
let link: string;
beforeAll(async () => {
  server = await harness({ LOG_LEVEL: "debug" });
  anna = await server.user();
  bytes = await wav(4);
  asset = await anna.ready(bytes, { filename: 'Ünï "x".wav' });
  link = asset.download_url!;
});
afterAll(() => server[Symbol.asyncDispose]());

const get = (headers: Record<string, string> = {}, method = "GET", url = link) => fetch(url, { method, headers });
const body = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
const slice = (start: number, end: number) => Buffer.from(bytes.slice(start, end));

describe("a download", () => {
  test("is the uploaded file as an attachment with its name", async () => {
    const answer = await get();
    expect(answer.status).toBe(200);
    expect((await body(answer)).equals(Buffer.from(bytes))).toBe(true);
    expect(answer.headers.get("content-length")).toBe(String(bytes.length));
    expect(answer.headers.get("content-type")).toBe(asset.content_type);
    expect(answer.headers.get("accept-ranges")).toBe("bytes");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cache-control")).toBe("private, no-store");
    expect(answer.headers.get("content-disposition")).toBe(
      "attachment; filename=\"_n_ _x_.wav\"; filename*=UTF-8''%C3%9Cn%C3%AF%20%22x%22.wav",
    );
  });

  test("has the same headers without a body for HEAD", async () => {
    const [whole, head] = [await get(), await get({}, "HEAD")];
    expect(head.status).toBe(200);
    expect((await body(head)).length).toBe(0);
    for (const name of ["content-length", "content-type", "etag", "last-modified", "accept-ranges"]) {
      expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)]);
    }
    await whole.arrayBuffer();
  });

  test("of a large file is not read for HEAD", async () => {
    const large = await anna.ready(await wav(1));
    const size = 1024 ** 4;
    await truncate(server.services().folders.media(large.id).source, size);
    const answer = await get({}, "HEAD", large.download_url!);
    expect([answer.status, answer.headers.get("content-length")]).toEqual([200, String(size)]);
    const part = await get({ Range: "bytes=1-" }, "HEAD", large.download_url!);
    expect([part.status, part.headers.get("content-length")]).toEqual([206, String(size - 1)]);
  });

  test.each([
    ["bytes=0-0", 0, 1],
    ["bytes=100-199", 100, 200],
    ["bytes=-44", -44, undefined],
    ["bytes=1000-", 1_000, undefined],
    ["bytes=0-99999999", 0, undefined],
  ])("of %s is that range", async (range, start, end) => {
    const answer = await get({ Range: range });
    const expected = Buffer.from(bytes.slice(start, end));
    const first = start < 0 ? bytes.length + start : start;
    expect(answer.status).toBe(206);
    expect(answer.headers.get("content-range")).toBe(`bytes ${first}-${first + expected.length - 1}/${bytes.length}`);
    expect(answer.headers.get("content-length")).toBe(String(expected.length));
    expect((await body(answer)).equals(expected)).toBe(true);
  });

  test.each(["bytes=99999999-", "bytes=-0"])("of %s is a 416 with the length of the file", async (range) => {
    const answer = await get({ Range: range });
    expect(answer.status).toBe(416);
    expect(answer.headers.get("content-range")).toBe(`bytes */${bytes.length}`);
  });

  test.each(["bytes=5-2", "bytes=a-b", "lines=1-2", "bytes=0-1,5-6"])("of %s is the whole file", async (range) => {
    const answer = await get({ Range: range });
    expect([answer.status, (await body(answer)).length]).toEqual([200, bytes.length]);
  });

  test("resumes only if the file is unchanged", async () => {
    const { headers } = await get({}, "HEAD");
    const etag = headers.get("etag")!;
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const same of [etag, headers.get("last-modified")!]) {
      const answer = await get({ Range: "bytes=10-19", "If-Range": same });
      expect(answer.status).toBe(206);
      expect((await body(answer)).equals(slice(10, 20))).toBe(true);
    }
    for (const other of ['"something-else"', "Thu, 01 Jan 1970 00:00:00 GMT"]) {
      expect((await get({ Range: "bytes=10-19", "If-Range": other })).status).toBe(200);
    }
  });

  test.each(["", "W/", '"other", '])("is a 304 for If-None-Match %s", async (before) => {
    const etag = (await get({}, "HEAD")).headers.get("etag")!;
    const answer = await get({ "If-None-Match": `${before}${etag}` });
    expect(answer.status).toBe(304);
    expect((await body(answer)).length).toBe(0);
    expect((await get({ "If-None-Match": '"other"' })).status).toBe(200);
  });

  test("can be fetched in ranges by many clients at once", async () => {
    const step = 1_000;
    const starts = Array.from({ length: Math.ceil(bytes.length / step) }, (_, n) => n * step);
    const parts = await Promise.all(
      starts.map(async (start) => body(await get({ Range: `bytes=${start}-${start + step - 1}` }))),
    );
    expect(Buffer.concat(parts).equals(Buffer.from(bytes))).toBe(true);
  });
});

describe("a link", () => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(link);
    change(url);
    return url.href;
  };
  test.each<[string, (url: URL) => void]>([
    ["without its signature", (url) => url.searchParams.delete("signature")],
    ["without its expiry", (url) => url.searchParams.delete("expires")],
    [
      "with a later end",
      (url) => url.searchParams.set("expires", String(Number(url.searchParams.get("expires")) + 60)),
    ],
    ["with another signature", (url) => url.searchParams.set("signature", "A".repeat(43))],
    ["to another file of the asset", (url) => (url.pathname = url.pathname.replace("source", "transcript"))],
    ["to another asset", (url) => (url.pathname = url.pathname.replace(asset.id, NO_ID))],
    ["to a path", (url) => (url.pathname = "/files/assets/..%2F..%2F/offcut.db")],
  ])("%s is a 404", async (_, change) => {
    const answer = await fetch(changed(change));
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: "not_found" } });
  });

  test("that is refused has its reason in the log at the level debug, without its signature", async () => {
    const signature = new URL(link).searchParams.get("signature")!;
    const refuse = async (url: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(url, { headers });
      expect(answer.status).toBe(404);
      const lines = server.log.filter((line) => line.includes(answer.headers.get("x-request-id")!));
      expect(lines.join()).not.toContain(signature);
      return lines.map((line) => JSON.parse(line)).map(({ level, event, reason }) => [level, event, reason]);
    };
    const refused = (reason: string) => [
      ["debug", "request.refused", reason],
      ["debug", "request.completed", undefined],
    ];
    const other = changed((url) => (url.pathname = url.pathname.replace("source", "poster")));
    expect(await refuse(other)).toEqual(refused("wrong_signature"));
    expect(await refuse(other, { Accept: "text/html" })).toEqual(refused("wrong_signature"));
    expect(await refuse(changed((url) => url.searchParams.set("expires", "1")))).toEqual(refused("wrong_signature"));
    const ended = server.services().links.sign({ kind: "assets", id: asset.id, what: "source" }, 0);
    expect(await refuse(ended)).toEqual(refused("expired"));
    const gone = await anna.ready(await wav(2));
    await anna.must("DELETE", `/v1/assets/${gone.id}`);
    expect(await refuse(gone.download_url!)).toEqual(refused("resource_unavailable"));
  });

  test("expires after 15 minutes, and each read returns a new one", async () => {
    const first = (await anna.asset(asset.id)).download_url!;
    server.advance(14 * 60_000);
    expect((await fetch(first)).status).toBe(200);
    server.advance(2 * 60_000);
    expect((await fetch(first)).status).toBe(404);
    expect((await fetch((await anna.asset(asset.id)).download_url!)).status).toBe(200);
  });

  test("needs no key and allows no other method", async () => {
    link = (await anna.asset(asset.id)).download_url!;
    for (const method of ["POST", "DELETE", "PUT"]) expect((await get({}, method)).status).toBe(404);
    expect((await get()).status).toBe(200);
  });

  test("is invalid as soon as its asset is deleted", async () => {
    const other = await anna.ready(await wav(2));
    expect((await fetch(other.download_url!)).status).toBe(200);
    await anna.must("DELETE", `/v1/assets/${other.id}`);
    expect((await fetch(other.download_url!)).status).toBe(404);
    expect((await fetch(other.transcript_url!)).status).toBe(404);
  });
});

test("links contain the public URL of the settings, not the host that the client sent", async () => {
  await using own = await harness({ PUBLIC_URL: "https://cut.example/media/" });
  const user = await own.user();
  const projectId = (await user.project()).id;
  const reply = await user.call<AssetDetail>("POST", "/v1/assets", {
    json: { project_id: projectId, size_bytes: 1_000 },
    headers: { Host: "evil.test", "X-Forwarded-Host": "evil.test", "X-Forwarded-Proto": "gopher" },
  });
  expect(reply.headers.get("location")).toBe(`https://cut.example/media/v1/uploads/${reply.body.id}`);
  expect(reply.body.upload_url).toBe(`https://cut.example/media/v1/uploads/${reply.body.id}`);
});
