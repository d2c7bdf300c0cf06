/** Clients that begin and do not end: headers, bodies. And bodies that never end. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "../http/client";
import { until } from "../until";
import { type AttackedServer, startAttackedServer } from "./attacked-server";
import { openConnection, parseAnswer, type RawConnection } from "./raw-request";

/** Request timeout of the server; 30 s by default. Time-outs of connections are exact to 4 s. */
const TIMEOUT_SECONDS = 5;
/** New connections have 12 s for their headers, whatever is set. */
const CLOSED_BY_MS = 17_000;
const DRIP_EVERY_MS = 1_000;

let server: AttackedServer;
let user: Client;
beforeAll(async () => {
  server = await startAttackedServer({ REQUEST_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) });
  user = await server.user();
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const head = (method: string, path: string, headers: Record<string, string>, host = "localhost") =>
  [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join("\r\n");
const authorized = () => ({ Authorization: `Bearer ${user.key}` });
const whole = (text: string) => `${text}\r\n\r\n`;

/** Sends `bytes` again and again until the connection is closed. */
function drip(connection: RawConnection, bytes: string, everyMs = DRIP_EVERY_MS): { sent(): number } {
  let sent = 0;
  const timer = setInterval(() => {
    sent += bytes.length;
    connection.socket.write(bytes);
  }, everyMs);
  void connection.closed.then(() => clearInterval(timer));
  return { sent: () => sent };
}

// These mostly wait: side by side they take as long as the longest.
test.concurrent("400 clients that never finish a request delay no other client and are closed", async () => {
  const json = { ...authorized(), "Content-Type": "application/json" };
  const kinds: [first: string, drip: string | null][] = [
    ["", null],
    [head("GET", "/v1/projects", { "X-Slow": "a" }), null],
    [head("GET", "/v1/projects", { "X-Slow": "a" }), "a"],
    // A whole request first: its connection is kept for the next one.
    [`${whole(head("GET", "/healthz", {}))}${head("GET", "/healthz", { "X-Slow": "a" })}`, null],
    [`${whole(head("GET", "/healthz", {}))}${head("GET", "/healthz", { "X-Slow": "a" })}`, "a"],
    [whole(head("POST", "/v1/projects", { ...json, "Content-Length": "1000" })), " "],
    [whole(head("POST", "/v1/cuts", { ...json, "Transfer-Encoding": "chunked" })), "1\r\n \r\n"],
    [whole(head("POST", "/v1/projects", { "Content-Length": "1000" })), " "],
  ];
  const opened = kinds.flatMap((kind) => Array.from({ length: 50 }, () => kind));
  const times = await Promise.all(
    opened.map(async ([first, bytes]) => {
      const connection = await openConnection(server.url(), first);
      if (bytes !== null) drip(connection, bytes);
      return connection.closed;
    }),
  );
  expect(times).toHaveLength(400);
  expect(Math.max(...times)).toBeLessThan(CLOSED_BY_MS);
  server.expectUnharmed({ maxProbeMs: 500 });
}, 30_000);

test.concurrent("a JSON body that does not arrive in time is a 400, however steadily it drips", async () => {
  const headers = { ...authorized(), "Content-Type": "application/json", "Content-Length": "1000" };
  const connection = await openConnection(server.url(), whole(head("POST", "/v1/projects", headers)));
  drip(connection, " ", 200);
  const closedAfter = await connection.closed;
  expect(closedAfter).toBeGreaterThan(TIMEOUT_SECONDS * 1000 - 100);
  const answer = parseAnswer(connection.received());
  expect([answer.status, answer.headers.get("connection")]).toEqual([400, "close"]);
  expect(answer.body).toContain(`Request body was not received within ${TIMEOUT_SECONDS} s.`);
}, 30_000);

test.concurrent("a slowly dripping upload is not idle, and lives longer than the timeout", async () => {
  const { id } = await user.open(1_000);
  const headers = {
    ...authorized(),
    "Tus-Resumable": "1.0.0",
    "Upload-Offset": "0",
    "Content-Type": "application/offset+octet-stream",
    "Content-Length": "1000",
  };
  const connection = await openConnection(server.url(), whole(head("PATCH", `/v1/uploads/${id}`, headers)));
  const { sent } = drip(connection, "x");
  await until("more bytes than the time-out has seconds", () => sent() >= TIMEOUT_SECONDS + 6, 30);
  expect(connection.received()).toBe("");
  const rest = "x".repeat(1_000 - sent());
  connection.socket.write(rest);
  await until("the answer", () => connection.received().includes("\r\n\r\n"));
  expect(parseAnswer(connection.received())).toMatchObject({ status: 204 });
  connection.socket.destroy();
}, 40_000);

const CHUNK = `1000\r\n${"x".repeat(0x1000)}\r\n`;

test.each<[string, () => Promise<[path: string, method: string, headers: Record<string, string>]>]>([
  ["a JSON body", async () => ["/v1/projects", "POST", { ...authorized(), "Content-Type": "application/json" }]],
  ["a body without a key", async () => ["/v1/projects", "POST", {}]],
  [
    "an upload",
    async () => [
      `/v1/uploads/${(await user.open(20_000)).id}`,
      "PATCH",
      {
        ...authorized(),
        "Tus-Resumable": "1.0.0",
        "Upload-Offset": "0",
        "Content-Type": "application/offset+octet-stream",
      },
    ],
  ],
])("%s without an end is refused while the client still sends, and the connection is closed", async (name, prepare) => {
  // A short host takes another way through the server.
  for (const host of ["localhost:4700", "x"]) {
    const [path, method, headers] = await prepare();
    const request = whole(head(method, path, { ...headers, "Transfer-Encoding": "chunked" }, host));
    const connection = await openConnection(server.url(), request);
    const { sent } = drip(connection, CHUNK, 20);
    const closedAfter = await connection.closed;
    const said = `${host} ${connection.received().slice(0, 12)}`;
    expect(said).toBe(`${host} HTTP/1.1 ${name.includes("key") ? 401 : 413}`);
    expect(parseAnswer(connection.received()).headers.get("connection")).toBe("close");
    expect(closedAfter).toBeLessThan(5_000);
    expect(sent()).toBeLessThan(1024 * 1024);
  }
  server.expectUnharmed({ maxProbeMs: 500 });
});

test("an announced body over the limit is refused before it is sent, and a client that sends it all reads the answer", async () => {
  const headers = { ...authorized(), "Content-Type": "application/json", "Content-Length": "3000000000" };
  const connection = await openConnection(server.url(), whole(head("POST", "/v1/projects", headers)));
  expect(await connection.closed).toBeLessThan(5_000);
  expect(parseAnswer(connection.received()).status).toBe(413);
  const large = await user.call("POST", "/v1/projects", { json: { name: "x".repeat(3_000_000) } });
  expect(large.status).toBe(413);
});
