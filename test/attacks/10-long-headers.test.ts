/**
 * Headers of 14 KB that make a careless pattern backtrack: the server's only thread answers them as fast as short ones.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { wav } from "../http/media";
import { type AttackedServer, startAttackedServer } from "./attacked-server";
import { rawRequest } from "./raw-request";
import { readCoreMs } from "./stopwatch";

let server: AttackedServer;
let download: string;
beforeAll(async () => {
  server = await startAttackedServer();
  const user = await server.user();
  const { download_url } = await user.ready(await wav(2));
  const { pathname, search } = new URL(download_url!);
  download = pathname + search;
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const REQUESTS = 10;
/** A short request takes 1 ms. */
const MAX_MS_PER_REQUEST = 10;

const long = (text: string) => text.repeat(Math.floor(14_000 / text.length));
const TEXTS = [
  long(" "),
  long("\t"),
  long(", "),
  long(";"),
  long("a"),
  long("1"),
  long("0"),
  long("="),
  long("/"),
  long("."),
];

/** Name, method, path (empty: that of a download) and value. */
const HEADERS: [string, string, string, (text: string) => string][] = [
  ["Accept-Encoding", "GET", "/", (text) => `x${text}x`],
  ["Accept-Encoding", "GET", "/app/x.js", (text) => `br;${text}q`],
  ["Range", "GET", "", (text) => `bytes=${text}x`],
  ["Range", "GET", "", (text) => `bytes=1-${text}x`],
  ["If-None-Match", "GET", "/", (text) => `"${text}`],
  ["Cookie", "GET", "/settings", (text) => `service_session=${text}x`],
  ["Cookie", "GET", "/api/v1/auth/me", (text) => `${text}service_session=${text}x`],
  ["Authorization", "GET", "/v1/projects", (text) => `Bearer${text}x`],
  ["Origin", "POST", "/v1/projects", (text) => `http://${text}x`],
  ["X-Forwarded-For", "GET", "/v1/projects", (text) => `1${text}x`],
  ["Forwarded", "POST", "/v1/uploads", (text) => `for=${text}x`],
  ["Content-Type", "POST", "/v1/projects", (text) => `application/json${text}x`],
  ["Upload-Metadata", "POST", "/v1/uploads", (text) => `filename${text}x`],
  ["Upload-Length", "POST", "/v1/uploads", (text) => `1${text}x`],
  ["Tus-Resumable", "POST", "/v1/uploads", (text) => `1${text}x`],
  ["Idempotency-Key", "POST", "/v1/projects", (text) => `1${text}x`],
  ["Last-Event-ID", "GET", "/api/v1/events", (text) => `1${text}x`],
];

test.each(HEADERS)(
  "%s of %s %s",
  async (name, method, path, format) => {
    const slow: [string, number][] = [];
    for (const text of TEXTS) {
      const before = readCoreMs(server.pid());
      for (let n = 0; n < REQUESTS; n++)
        await rawRequest(server.url(), method, path === "" ? download : path, { [name]: format(text) });
      const ms = (readCoreMs(server.pid()) - before) / REQUESTS;
      if (ms > MAX_MS_PER_REQUEST) slow.push([text.slice(0, 2), ms]);
    }
    expect(slow).toEqual([]);
    server.expectUnharmed({ maxProbeMs: 500 });
  },
  60_000,
);
