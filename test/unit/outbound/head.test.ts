/** The client of the head: TLS, redirects, refusals, and ranges of files that are not as expected. */
import { expect, test } from "bun:test";
import { createHead, type Head } from "../../../src/outbound/head";
import type { HeadAddress } from "../../../src/outbound/head-requests";
import { createCertificate } from "../../certificate";
import { temporaryFolder } from "../../temporary-folder";

const never = new AbortController().signal;
const BOOT = { workerId: "w", bootId: "b" };
const LINK = "http://elsewhere.example/workers/executions/0190aaaa-0000-7000-8000-000000000001?signature=s";

type Serve = (request: Request) => Response | Promise<Response>;

function serveHead(fetch: Serve, tls?: { cert: string; key: string }) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, ...(tls && { tls }) });
  const open = (more: Partial<HeadAddress> = {}): Head =>
    createHead({ url: `${tls ? "https" : "http"}://localhost:${server.port}`, token: "wt_secret", ca: null, ...more });
  return { server, open, [Symbol.asyncDispose]: () => server.stop(true) };
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("a head with a certificate of its own is reached only with its authority", async () => {
  await using folder = await temporaryFolder();
  const tls = await createCertificate(folder.path);
  await using head = serveHead(() => Response.json({ isDraining: true, abort: ["x"], yield: [] }), tls);
  const heartbeat = { ...BOOT, freeBytes: 1, hasRedis: true, running: [] };
  expect(await head.open({ ca: tls.cert }).heartbeat(heartbeat, never)).toEqual({
    isDraining: true,
    abort: ["x"],
    yield: [],
  });
  await expect(head.open().heartbeat(heartbeat, never)).rejects.toThrow(/CERT/);
});

test("the error of a failed connection contains advice", async () => {
  await using folder = await temporaryFolder();
  await using secure = serveHead(() => Response.json({}), await createCertificate(folder.path));
  await using plain = serveHead(() => Response.json({}));
  const fail = (head: Head) =>
    head.heartbeat({ ...BOOT, freeBytes: 1, hasRedis: true, running: [] }, never).then(
      () => "",
      (error: Error) => error.message,
    );
  const [https, http] = [secure.server.port, plain.server.port];
  expect(await fail(secure.open())).toContain("set ca to the PEM file");
  expect(await fail(secure.open({ url: `http://localhost:${https}` }))).toContain("head starts with https://");
  expect(await fail(plain.open({ url: `https://localhost:${http}` }))).toContain("head starts with http://");
});

test("the token goes to the head only: redirects are not followed", async () => {
  const seen: (string | null)[] = [];
  await using other = serveHead((request) => {
    seen.push(request.headers.get("authorization"));
    return Response.json({});
  });
  await using head = serveHead(() => Response.redirect(`http://localhost:${other.server.port}/`));
  await expect(
    head.open().heartbeat({ ...BOOT, freeBytes: 1, hasRedis: true, running: [] }, never),
  ).rejects.toMatchObject({
    status: 302,
  });
  expect(seen).toEqual([]);
});

test("calls with a signed link go to the configured head, whatever host the link names, without the token", async () => {
  const seen: string[] = [];
  await using head = serveHead((request) => {
    const { pathname, search } = new URL(request.url);
    seen.push(`${pathname}${search} ${request.headers.get("authorization")}`);
    return Response.json({ ok: true });
  });
  expect(await head.open().openExecution(LINK).start(BOOT, never)).toEqual({ ok: true });
  expect(seen).toEqual(["/workers/executions/0190aaaa-0000-7000-8000-000000000001/start?signature=s null"]);
  for (const url of ["", "nonsense", "http://head/workers/executions/x", "http://head/other"])
    expect(() => head.open().openExecution(url)).toThrow("no link");
});

test("a request to a temporarily failing head is repeated; a refusal is final", async () => {
  let calls = 0;
  await using head = serveHead(() => {
    calls++;
    if (calls < 3) return new Response("starting", { status: 503 });
    return Response.json({ error: { code: "not_found", message: "Gone." } }, { status: 404 });
  });
  await expect(head.open().openExecution(LINK).start(BOOT, never)).rejects.toMatchObject({
    status: 404,
    code: "not_found",
    message: "Gone.",
  });
  expect(calls).toBe(3);
});

test("a file of another size than announced is refused, and a range that is too long too", async () => {
  const answers: Serve[] = [
    () => new Response("abcd", { status: 206, headers: { "Content-Range": "bytes 0-3/5" } }),
    () => new Response("abcdef"),
    () => new Response("abcde", { status: 206, headers: { "Content-Range": "bytes 0-3/4" } }),
  ];
  await using head = serveHead((request) => answers.shift()!(request));
  const read = () => collect(head.open().openExecution(LINK).read("source", { from: 0, to: 4, total: 4 }, never));
  await expect(read()).rejects.toThrow("another size");
  await expect(read()).rejects.toThrow("another size");
  await expect(read()).rejects.toThrow("more bytes");
});

test.each<[string, Serve, string]>([
  ["a web page", () => new Response("<html>welcome</html>"), "does not respond like a head"],
  ["another API", () => Response.json({ hello: 1 }), "does not respond like a head"],
  [
    "a head without Redis",
    () => Response.json({ error: { code: "not_found", message: "Path not found." } }, { status: 404 }),
    "no redis_url",
  ],
  [
    "a proxy that redirects",
    () => Response.redirect("https://cut.example/workers/join", 301),
    "redirects (status 301)",
  ],
])("%s at the address is named", async (_, serve, message) => {
  await using other = serveHead(serve);
  const announcement = { encoding: {} } as Parameters<Head["join"]>[0];
  await expect(other.open().join(announcement, never)).rejects.toThrow(message);
});
