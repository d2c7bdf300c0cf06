import { describe, expect, test } from "bun:test";
import { exists, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type DownloadOptions, download, type ModelDownload } from "../../../../src/speech/models/download";
import { temporaryFolder } from "../../../temporary-folder";
import { type Bytes, noise, ranged, sha256, startCuttingHub, startHub } from "./test-models";

const DATA = noise(400_000, 7);
const QUICK: DownloadOptions = { maxTries: 3, backoffMs: 1 };
const FILES = { "model.onnx": DATA };

const wanted = (url: string, folder: string, data = DATA): ModelDownload => ({
  url: `${url}/any/model.onnx`,
  path: join(folder, "model.onnx"),
  sizeBytes: data.length,
  sha256: sha256(data),
});

const codeOf = (run: Promise<unknown>): Promise<string> =>
  run.then(
    () => "nothing was thrown",
    (error) => `${error.code ?? error.name}: ${error.message}`,
  );

test("a file is downloaded once and not requested again", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub(undefined, FILES);
  const seen: number[] = [];
  await download(wanted(hub.url, folder.path), { onBytes: (bytes) => seen.push(bytes) });
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
  expect(await readdir(folder.path)).toEqual(["model.onnx"]);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(DATA.length);

  await download(wanted(hub.url, folder.path));
  expect(hub.requests).toHaveLength(1);
});

test("an existing file with wrong content is downloaded again", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub(undefined, FILES);
  await Bun.write(join(folder.path, "model.onnx"), noise(DATA.length, 99));
  await download(wanted(hub.url, folder.path));
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
});

test("an interrupted download resumes where it stopped, with If-Range", async () => {
  await using folder = await temporaryFolder();
  await using hub = startCuttingHub(DATA, 150_000);
  await download(wanted(hub.url, folder.path), { ...QUICK, onBytes: hub.onBytes });
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
  expect(hub.requests.map((r) => r.range)).toEqual([null, "bytes=150000-", "bytes=300000-"]);
  expect(hub.requests.map((r) => r.ifRange)).toEqual([null, '"fixed"', '"fixed"']);
});

test("a later call resumes from an aborted one", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub(undefined, FILES);
  const stopping = new AbortController();
  await using slow = startHub((_, data) => {
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(data.slice(0, 250_000));
      },
    });
    return new Response(body, { headers: { "content-length": String(data.length), etag: '"x"' } });
  }, FILES);
  const onBytes = (bytes: number) => {
    if (bytes >= 250_000) stopping.abort(new Error("interrupted"));
  };
  expect(await codeOf(download(wanted(slow.url, folder.path), { onBytes, signal: stopping.signal }))).toContain(
    "interrupted",
  );
  expect(await exists(join(folder.path, "model.onnx"))).toBe(false);

  await Bun.file(join(folder.path, "model.onnx.part.tag")).delete();
  await download(wanted(hub.url, folder.path));
  expect(hub.requests[0]?.range).toBe("bytes=250000-");
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
});

test("a changed version or a server without ranges restarts the download", async () => {
  for (const answer of [undefined, (_: Request, data: Bytes) => new Response(data)]) {
    await using folder = await temporaryFolder();
    await using hub = startHub(answer, FILES);
    await Bun.write(join(folder.path, "model.onnx.part"), noise(1000, 5));
    await Bun.write(join(folder.path, "model.onnx.part.tag"), '"older"');
    await download(wanted(hub.url, folder.path), QUICK);
    expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
    expect(hub.requests).toHaveLength(1);
  }
});

test("a part of another file fails the checksum and is discarded once", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub(undefined, FILES);
  await Bun.write(join(folder.path, "model.onnx.part"), noise(1000, 5));
  await download(wanted(hub.url, folder.path), QUICK);
  expect(hub.requests.map((r) => r.range)).toEqual(["bytes=1000-", null]);
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
});

describe("a server with a different file", () => {
  const body = (data: Bytes, init?: ResponseInit) => () => new Response(data, init);
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(noise(100_000)),
      }),
    );
  const cases: [string, () => Response, string][] = [
    ["another file of the same length", body(noise(DATA.length, 8)), "checksum"],
    ["a longer file", body(noise(500_000)), "has 500000 bytes, expected 400000"],
    ["a shorter file", body(noise(10)), "has 10 bytes"],
    ["an endless stream", endless, "more data than the file should have"],
    ["a missing file", body(new Uint8Array(0), { status: 404 }), "does not exist (status 404)"],
    ["a forbidden file", body(new Uint8Array(0), { status: 403 }), "cannot be downloaded (status 403)"],
    [
      "a redirect to a local file",
      body(new Uint8Array(0), { status: 302, headers: { location: "file:///etc/passwd" } }),
      "not allowed",
    ],
    [
      "a redirect to a data URL",
      body(new Uint8Array(0), { status: 302, headers: { location: "data:text/plain,hello" } }),
      "not allowed",
    ],
    ["a redirect without a location", body(new Uint8Array(0), { status: 302 }), "not allowed"],
    [
      "a redirect loop",
      body(new Uint8Array(0), { status: 302, headers: { location: "/any/model.onnx" } }),
      "redirects too often",
    ],
  ];
  test.each(cases)("%s is rejected, and nothing is left on disk", async (_, answer, message) => {
    await using folder = await temporaryFolder();
    await using hub = startHub(answer, FILES);
    const error = await codeOf(download(wanted(hub.url, folder.path), QUICK));
    expect(error).toStartWith("upstream_error: ");
    expect(error).toContain(message);
    expect(await exists(join(folder.path, "model.onnx"))).toBe(false);
  });
});

test("a redirect is followed with the range", async () => {
  await using folder = await temporaryFolder();
  await using store = startHub(undefined, FILES);
  await using hub = startHub(
    (request) => Response.redirect(`${store.url}${new URL(request.url).pathname}`, 302),
    FILES,
  );
  await Bun.write(join(folder.path, "model.onnx.part"), DATA.slice(0, 1234));
  await download(wanted(hub.url, folder.path), QUICK);
  expect(store.requests.map((r) => r.range)).toEqual(["bytes=1234-"]);
});

test("an overloaded server is retried, a dead one fails with an error that names it", async () => {
  await using folder = await temporaryFolder();
  await using busy = startHub(
    (request, data, count) => (count < 3 ? new Response("", { status: 503 }) : ranged(request, data)),
    FILES,
  );
  await download(wanted(busy.url, folder.path), QUICK);
  expect(busy.requests).toHaveLength(3);

  await using other = await temporaryFolder();
  const stopped = startHub();
  await stopped[Symbol.asyncDispose]();
  const error = await codeOf(download(wanted(stopped.url.replace("//", "//me:secret@"), other.path), QUICK));
  expect(error).toStartWith("upstream_unavailable: ");
  expect(error).toContain("Cannot download http");
  expect(error).not.toContain("secret");
});

test("a server that stops sending is retried", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub((request, data, count) => {
    if (count > 1) return ranged(request, data);
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(data.slice(0, 1000)),
    });
    return new Response(body, { headers: { "content-length": String(data.length) } });
  }, FILES);
  await download(wanted(hub.url, folder.path), { ...QUICK, stallMs: 50 });
  expect(hub.requests).toHaveLength(2);
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
});

test("a response for another range restarts the file", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub((request, data) => {
    if (!request.headers.has("range")) return null;
    const headers = { "content-range": `bytes 5-9/${data.length}` };
    return new Response(data.slice(5, 10), { status: 206, headers });
  }, FILES);
  await Bun.write(join(folder.path, "model.onnx.part"), DATA.slice(0, 1000));
  await download(wanted(hub.url, folder.path), QUICK);
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
});

test("an unwritable path is a file system error, not a server error", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub(undefined, FILES);
  await mkdir(join(folder.path, "model.onnx.part"));
  expect(await codeOf(download(wanted(hub.url, folder.path), { ...QUICK, maxTries: 1 }))).toContain("EISDIR");
});
