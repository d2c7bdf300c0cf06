/** TUS 1.0.0 as a table: the response of each method in each state of an upload, in both families. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startSession } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { NO_ID } from "./outcome";
import { createLink, createResumable, formatMetadata } from "./upload-clients";

setDefaultTimeout(PATIENCE_MS);

const LENGTH = 1_000;
const METADATA = formatMetadata({ filename: "talk.wav" });

let server: Harness;
let anna: Client;
let session: Client;
let bert: Client;
let file: Uint8Array<ArrayBuffer>;
let finished: string;
beforeAll(async () => {
  server = await harness({ MAX_UPLOADS: "1000", CORS_ORIGINS: "https://app.example" });
  file = (await wav(1)) as Uint8Array<ArrayBuffer>;
  [anna, bert] = [await server.user(), await server.user()];
  session = await startSession(server, anna);
  finished = await anna.upload(file, { filename: "talk.wav" });
  await anna.prepared(finished);
});
afterAll(() => server[Symbol.asyncDispose]());

/** Creates uploads in each state. Returns the ID, and the offset of the next byte. */
const STATES: Record<string, () => Promise<{ id: string; offset: number }>> = {
  unknown: async () => ({ id: NO_ID, offset: 0 }),
  "not a UUID": async () => ({ id: "..%2F..%2Foffcut.db", offset: 0 }),
  foreign: async () => ({ id: (await bert.open(LENGTH)).id, offset: 0 }),
  "a signed link": async () => ({ id: (await createLink(session)).asset.id, offset: 0 }),
  deleted: async () => {
    const { id } = await anna.open(LENGTH);
    await anna.call("DELETE", `/v1/uploads/${id}`, { headers: anna.tus() });
    return { id, offset: 0 };
  },
  empty: async () => ({ id: (await anna.open(LENGTH, { filename: "talk.wav" })).id, offset: 0 }),
  begun: async () => {
    const { id } = await anna.open(LENGTH, { filename: "talk.wav" });
    await anna.patch(id, 0, file.slice(0, 100));
    return { id, offset: 100 };
  },
  "without a length": async () => {
    const { body } = await createResumable(session, { "Upload-Defer-Length": "1", "Upload-Metadata": METADATA });
    return { id: body.session_id, offset: 0 };
  },
  finished: async () => ({ id: finished, offset: file.length }),
};

type Call = { method: string; shift?: number; bytes?: number; chunked?: boolean; headers?: Record<string, string> };

const METHODS: Record<string, Call> = {
  HEAD: { method: "HEAD" },
  PATCH: { method: "PATCH", bytes: 10 },
  "PATCH in chunks": { method: "PATCH", bytes: 10, chunked: true },
  "empty PATCH": { method: "PATCH", bytes: 0 },
  "PATCH at another offset": { method: "PATCH", bytes: 10, shift: 1 },
  "PATCH past the length": { method: "PATCH", bytes: LENGTH + 1 },
  "PATCH past the length, in chunks": { method: "PATCH", bytes: LENGTH + 1, chunked: true },
  "PATCH with the length": { method: "PATCH", bytes: 10, headers: { "Upload-Length": String(LENGTH) } },
  "POST for PATCH": { method: "POST", bytes: 10, headers: { "X-HTTP-Method-Override": "PATCH" } },
  DELETE: { method: "DELETE" },
};

/** Status, and of an upload `Upload-Offset` of `Upload-Length`, or of `Upload-Defer-Length` as `?`. */
const ANSWERS: Record<string, Record<string, string>> = {
  unknown: { DELETE: "204", "": "404" },
  "not a UUID": { DELETE: "204", "": "404" },
  foreign: { DELETE: "204", "": "404" },
  "a signed link": { DELETE: "204", "": "404" },
  deleted: { DELETE: "204", "": "404" },
  empty: {
    HEAD: `200 0/${LENGTH}`,
    "empty PATCH": "204 0",
    "PATCH at another offset": "409",
    "PATCH past the length": "413",
    "PATCH past the length, in chunks": "413",
    DELETE: "204",
    "": "204 10",
  },
  begun: {
    HEAD: `200 100/${LENGTH}`,
    "empty PATCH": "204 100",
    "PATCH at another offset": "409",
    "PATCH past the length": "413",
    "PATCH past the length, in chunks": "413",
    DELETE: "204",
    "": "204 110",
  },
  "without a length": {
    HEAD: "200 0/?",
    "PATCH at another offset": "409",
    "PATCH with the length": "204 10",
    DELETE: "204",
    "": "400",
  },
  finished: {
    HEAD: "200 END/END",
    "empty PATCH": "204 END",
    "PATCH at another offset": "409",
    DELETE: "204",
    "": "413",
  },
};

const FAMILIES: [string, () => Client][] = [
  ["/v1", () => anna],
  ["/api/v1", () => session],
];

const streamOf = (bytes: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      controller.enqueue(bytes);
      controller.close();
    },
  });

/** Sends a call, checks the headers that every answer has, and returns the short form of the answer. */
async function send(prefix: string, client: Client, call: Call, { id, offset }: { id: string; offset: number }) {
  const { method, shift = 0, bytes, chunked = false } = call;
  const data = bytes === undefined ? undefined : new Uint8Array(bytes);
  const body = data && chunked ? streamOf(data) : data;
  const transfer = { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset + shift) };
  const headers = client.tus({ ...(data ? transfer : {}), ...call.headers });
  const reply = await client.call(method, `${prefix}/uploads/${id}`, { ...(body ? { body } : {}), headers });
  const header = (name: string) => reply.headers.get(name);
  const isTransfer = reply.status === 200 || (reply.status === 204 && method !== "DELETE");
  expect([header("tus-resumable"), header("upload-expires") !== null]).toEqual(["1.0.0", isTransfer]);
  expect(header("access-control-allow-origin")).toBeNull();
  if (method === "HEAD") expect(header("cache-control")).toBe("no-store");
  if (reply.status === 200) expect(header("upload-metadata")).toBe(METADATA);
  const length = header("upload-length") ?? (header("upload-defer-length") === "1" ? "?" : null);
  return [reply.status, [header("upload-offset"), length].filter(Boolean).join("/")].filter(Boolean).join(" ");
}

describe.each(FAMILIES)("%s", (prefix, client) => {
  const rows = Object.keys(STATES).flatMap((state) => Object.keys(METHODS).map((method) => [state, method] as const));
  test.each(rows)("%s: %s", async (state, method) => {
    const upload = await STATES[state]!();
    const expected = (ANSWERS[state]![method] ?? ANSWERS[state]![""]!).replaceAll("END", String(file.length));
    expect(await send(prefix, client(), METHODS[method]!, upload)).toBe(expected);
    expect(server.errors).toEqual([]);
  });

  test.each([
    ["-1", "400"],
    ["+1", "400"],
    ["1.0", "400"],
    ["1e2", "400"],
    ["0x64", "400"],
    ["0100", "400"],
    ["", "400"],
    ["100, 100", "400"],
    ["9007199254740992", "409"],
    ["9".repeat(30), "409"],
    ["100", "204 101"],
  ])("Upload-Offset %p: %s", async (offset, expected) => {
    for (const state of ["begun", "finished"]) {
      const call = { method: "PATCH", bytes: 1, headers: { "Upload-Offset": offset } };
      const answer = await send(prefix, client(), call, await STATES[state]!());
      expect([state, answer]).toEqual([state, state === "finished" && expected.startsWith("2") ? "409" : expected]);
    }
  });

  test("a version that is missing or another one is 412 with Tus-Version, whatever the state", async () => {
    for (const [state, create] of Object.entries(STATES)) {
      const { id } = await create();
      for (const method of ["HEAD", "PATCH", "DELETE"])
        for (const headers of [{}, { "Tus-Resumable": "0.2.2" }]) {
          const reply = await client().call(method, `${prefix}/uploads/${id}`, { headers });
          const named = [reply.headers.get("tus-version"), reply.headers.get("tus-resumable")];
          expect([state, method, reply.status, ...named]).toEqual([state, method, 412, "1.0.0", "1.0.0"]);
        }
    }
  });

  test("other methods are 404", async () => {
    const { id } = await STATES.begun!();
    for (const method of ["GET", "POST", "PUT"])
      expect([
        method,
        await client().call(method, `${prefix}/uploads/${id}`, { headers: client().tus() }),
      ]).toMatchObject([method, { status: 404 }]);
  });

  test("X-HTTP-Method-Override replaces each method but HEAD, which changes nothing", async () => {
    const headers = client().tus({ "X-HTTP-Method-Override": "DELETE" });
    for (const [method, isDeleted] of [
      ["POST", true],
      ["PATCH", true],
      ["HEAD", false],
    ] as const) {
      const { id } = await STATES.begun!();
      await client().call(method, `${prefix}/uploads/${id}`, { headers });
      expect([method, (await anna.call("GET", `/v1/assets/${id}`)).status]).toEqual([method, isDeleted ? 404 : 200]);
    }
  });
});

describe("discovery needs no credential and names what the path supports:", () => {
  const ALL = "creation,creation-defer-length,termination,expiration";
  test.each([
    [`/v1/uploads/${NO_ID}`, "termination,expiration"],
    [`/api/v1/uploads/${NO_ID}`, ALL],
    ["/api/v1/assets/upload-resumable", ALL],
  ])("%s", async (path, extensions) => {
    const { status, headers } = await server.nobody.call("OPTIONS", path, {
      headers: { Origin: "https://app.example" },
    });
    expect([status, headers.get("tus-version"), headers.get("tus-resumable")]).toEqual([204, "1.0.0", "1.0.0"]);
    expect(headers.get("tus-max-size")).toBe(String(100 * 1024 ** 3));
    expect(headers.get("tus-extension")).toBe(extensions);
    const exposed = headers.get("access-control-expose-headers")!.toLowerCase().split(", ");
    for (const name of ["version", "resumable", "max-size", "extension"]) expect(exposed).toContain(`tus-${name}`);
    for (const name of ["offset", "length", "defer-length", "expires", "metadata"])
      expect(exposed).toContain(`upload-${name}`);
  });
});

test("extensions that are not named are refused where ignoring them would store something else", async () => {
  for (const value of ["partial", `final;/api/v1/uploads/${NO_ID}`])
    expect((await createResumable(session, { "Upload-Concat": value, "Upload-Length": "100" })).status).toBe(400);
});
