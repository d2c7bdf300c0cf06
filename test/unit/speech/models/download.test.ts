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

test("a file arrives whole, and is not asked for again", async () => {
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

test("a file that is there but not as it should be is fetched again", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub(undefined, FILES);
  await Bun.write(join(folder.path, "model.onnx"), noise(DATA.length, 99));
  await download(wanted(hub.url, folder.path));
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
});

test("what is cut off goes on where it stopped, asking for the same version", async () => {
  await using folder = await temporaryFolder();
  await using hub = startCuttingHub(DATA, 150_000);
  await download(wanted(hub.url, folder.path), { ...QUICK, onBytes: hub.onBytes });
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
  expect(hub.requests.map((r) => r.range)).toEqual([null, "bytes=150000-", "bytes=300000-"]);
  expect(hub.requests.map((r) => r.ifRange)).toEqual([null, '"fixed"', '"fixed"']);
});

test("a later call uses what an aborted one left", async () => {
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

test("when the server has another version by now, or knows no ranges, it begins again", async () => {
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

test("a part of another file is found out by the checksum, and thrown away once", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub(undefined, FILES);
  await Bun.write(join(folder.path, "model.onnx.part"), noise(1000, 5));
  await download(wanted(hub.url, folder.path), QUICK);
  expect(hub.requests.map((r) => r.range)).toEqual(["bytes=1000-", null]);
  expect(await Bun.file(join(folder.path, "model.onnx")).bytes()).toEqual(DATA);
});

describe("a server that has something else", () => {
  const body = (data: Bytes, init?: ResponseInit) => () => new Response(data, init);
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(noise(100_000)),
      }),
    );
  const cases: [string, () => Response, string][] = [
    ["another file of the same length", body(noise(DATA.length, 8)), "checksum"],
    ["a longer file", body(noise(500_000)), "holds 500000 bytes and should hold 400000"],
    ["a shorter file", body(noise(10)), "holds 10 bytes"],
    ["a stream without end", endless, "more than the file should hold"],
    ["nothing", body(new Uint8Array(0), { status: 404 }), "is not there (status 404)"],
    ["a locked door", body(new Uint8Array(0), { status: 403 }), "cannot be fetched (status 403)"],
    [
      "a way to this machine's files",
      body(new Uint8Array(0), { status: 302, headers: { location: "file:///etc/passwd" } }),
      "not followed",
    ],
    [
      "a data address",
      body(new Uint8Array(0), { status: 302, headers: { location: "data:text/plain,hello" } }),
      "not followed",
    ],
    ["a redirect to nowhere", body(new Uint8Array(0), { status: 302 }), "not followed"],
    ["a circle", body(new Uint8Array(0), { status: 302, headers: { location: "/any/model.onnx" } }), "in circles"],
  ];
  test.each(cases)("%s is refused, and nothing is left of it", async (_, answer, message) => {
    await using folder = await temporaryFolder();
    await using hub = startHub(answer, FILES);
    const error = await codeOf(download(wanted(hub.url, folder.path), QUICK));
    expect(error).toStartWith("upstream_error: ");
    expect(error).toContain(message);
    expect(await exists(join(folder.path, "model.onnx"))).toBe(false);
  });
});

test("a redirect within the web is followed with its range", async () => {
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

test("an overloaded server is asked again, a dead one is given up with a line that names it", async () => {
  await using folder = await temporaryFolder();
  await using busy = startHub(
    (request, data, count) => (count < 3 ? new Response("", { status: 503 }) : ranged(request, data)),
    FILES,
  );
  await download(wanted(busy.url, folder.path), QUICK);
  expect(busy.requests).toHaveLength(3);

  await using other = await temporaryFolder();
  const gone = startHub();
  await gone[Symbol.asyncDispose]();
  const error = await codeOf(download(wanted(gone.url.replace("//", "//me:secret@"), other.path), QUICK));
  expect(error).toStartWith("upstream_unavailable: ");
  expect(error).toContain("model.onnx does not answer as it should");
  expect(error).not.toContain("secret");
});

test("a server that stops sending is left and asked again", async () => {
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

test("an answer to another question begins the file again", async () => {
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

test("a place that cannot be written is an error of the file system, not of the server", async () => {
  await using folder = await temporaryFolder();
  await using hub = startHub(undefined, FILES);
  await mkdir(join(folder.path, "model.onnx.part"));
  expect(await codeOf(download(wanted(hub.url, folder.path), { ...QUICK, maxTries: 1 }))).toContain("EISDIR");
});
