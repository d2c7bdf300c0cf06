/** Resumable uploads that the dashboard family creates, with and without a length, and with real TUS clients. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Readable } from "node:stream";
import { DetailedError, Upload, type UploadOptions } from "tus-js-client";
import { dashboardRoutes } from "../../src/http/dashboard";
import { grantWorkspace } from "../unit/store/test-store";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt, dashboardOutcome, NO_ID } from "./outcome";
import type { AssetDetail } from "./resources";
import { createLink, createResumable, createSessionUser, formatMetadata } from "./upload-clients";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let anna: Client;
let bytes: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  server = await harness();
  bytes = (await wav(1)) as Uint8Array<ArrayBuffer>;
});
beforeEach(async () => {
  anna = await createSessionUser(server);
});
afterAll(() => server[Symbol.asyncDispose]());

const ENDPOINT = "/api/v1/assets/upload-resumable";
const read = (id: string) => anna.must<AssetDetail>("GET", `/api/v1/assets/${id}`);
const head = (id: string) => anna.call("HEAD", `/api/v1/uploads/${id}`, { headers: anna.tus() });
const patch = async (id: string, offset: number, body: BodyInit, headers: Record<string, string> = {}, as = anna) =>
  dashboardOutcome(
    await as.call("PATCH", `/api/v1/uploads/${id}`, {
      body,
      headers: as.tus({
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": String(offset),
        ...headers,
      }),
    }),
  );
const open = async (headers: Record<string, string> = {}): Promise<string> =>
  (await createResumable(anna, headers)).body.asset.id;

describe("creation", () => {
  test("answers the asset, its session and the TUS headers", async () => {
    const metadata = formatMetadata({
      filename: "a/talk.wav",
      external_id: "e",
      language: "DE",
      filetype: "audio/wav",
    });
    const { status, headers, body } = await createResumable(anna, {
      "Upload-Length": "5000",
      "Upload-Metadata": metadata,
      "Tus-Resumable": "1.0.0",
    });
    expect([status, headers.get("location"), headers.get("tus-resumable")]).toEqual([
      201,
      `/api/v1/uploads/${body.asset.id}`,
      "1.0.0",
    ]);
    expect(Date.parse(headers.get("upload-expires")!)).toBe(Math.floor(Date.parse(body.expires_at) / 1000) * 1000);
    expect(body.session_id).toBe(body.asset.id);
    expect(body.asset).toMatchObject({ state: "pending_upload", kind: "source", language: "de", external_id: "e" });
    expect(body.asset.upload_url).toBe(`${server.url()}/api/v1/uploads/${body.asset.id}`);
    const asked = await head(body.session_id);
    expect([asked.headers.get("upload-length"), asked.headers.get("upload-metadata")]).toEqual(["5000", metadata]);
    expect(asked.headers.get("upload-defer-length")).toBeNull();
    expect((await read(body.asset.id)).filename).toBe("talk.wav");
  });

  const metadata = (values: Record<string, string>) => ({ "Upload-Metadata": formatMetadata(values) });
  test.each<[Record<string, string>, string]>([
    [{}, "201"],
    [{ "Upload-Defer-Length": "1" }, "201"],
    [{ "Upload-Length": "64" }, "201"],
    [{ "Upload-Length": "63" }, "400 bad_request"],
    [{ "Upload-Length": "0" }, "422 header.Upload-Length"],
    [{ "Upload-Length": "-5" }, "422 header.Upload-Length"],
    [{ "Upload-Length": "1e3" }, "422 header.Upload-Length"],
    [{ "Upload-Length": "1.5" }, "422 header.Upload-Length"],
    [{ "Upload-Length": "9".repeat(15) }, "413 payload_too_large"],
    [{ "Upload-Length": "9".repeat(400) }, "413 payload_too_large"],
    [{ "Upload-Length": "100", "Upload-Defer-Length": "1" }, "400 bad_request"],
    [{ "Upload-Defer-Length": "2" }, "400 bad_request"],
    [{ "Tus-Resumable": "0.2.2" }, "412 precondition_failed"],
    [metadata({ project_id: NO_ID }), "404 not_found"],
    [metadata({ project_id: "x" }), "400 bad_request"],
    [metadata({ language: "eng" }), "400 bad_request"],
    [metadata({ external_id: "x".repeat(257) }), "400 bad_request"],
    [{ "Upload-Metadata": "filename a b" }, "400 bad_request"],
  ])("%j: %s", async (headers, expected) => {
    const reply = await createResumable(anna, headers);
    expect(dashboardOutcome(reply)).toBe(expected);
    if (reply.status === 412) expect(reply.headers.get("tus-version")).toBe("1.0.0");
  });

  test("with a body is refused: its bytes would be lost", async () => {
    expect(dashboardOutcome(await anna.call("POST", ENDPOINT, { body: "bytes" }))).toBe("400 bad_request");
  });

  test.each([
    ["rendered_video", "rendered_video"],
    ["cut_file", "cut_file"],
    ["audio", "source"],
    ["video/mp4", "source"],
    ["", "source"],
  ])("the key type %p makes a %s", async (type, kind) => {
    expect((await createResumable(anna, metadata({ type }))).body.asset.kind).toBe(kind as "source");
  });

  test("twice makes two uploads, unless both have the same Idempotency-Key and the same headers", async () => {
    const key = { "Idempotency-Key": crypto.randomUUID(), "Upload-Length": "100" };
    const [first, second] = [await createResumable(anna, key), await createResumable(anna, key)];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect(dashboardOutcome(await createResumable(anna, { ...key, "Upload-Length": "101" }))).toStartWith("422");
    expect((await createResumable(anna)).body.asset.id).not.toBe((await createResumable(anna)).body.asset.id);
  });
});

describe("a deferred length", () => {
  test("comes with the first PATCH; until then size_bytes is null and HEAD says so", async () => {
    const id = await open({ "Upload-Defer-Length": "1" });
    const before = await head(id);
    expect([before.status, before.headers.get("upload-defer-length"), before.headers.get("upload-length")]).toEqual([
      200,
      "1",
      null,
    ]);
    expect(await patch(id, 0, bytes.slice(0, 1_000))).toBe("400 bad_request");
    expect(await patch(id, 5, bytes.slice(5), { "Upload-Length": String(bytes.length) })).toBe("409 conflict");
    expect(await patch(id, 0, bytes.slice(0, 1_000), { "Upload-Length": String(bytes.length) })).toBe("204");
    const after = await head(id);
    expect([after.headers.get("upload-defer-length"), after.headers.get("upload-length")]).toEqual([
      null,
      String(bytes.length),
    ]);
    expect(await patch(id, 1_000, bytes.slice(1_000))).toBe("204");
    await server.idle();
    expect(await read(id)).toMatchObject({ state: "ready", size_bytes: bytes.length });
  });

  test("is checked like the length of any upload", async () => {
    await using own = await harness({ MAX_UPLOAD_BYTES: "10000", STORAGE_QUOTA_BYTES: "9000" });
    const user = await createSessionUser(own);
    const id = (await createResumable(user)).body.asset.id;
    const declare = (length: string) => patch(id, 0, "x".repeat(10), { "Upload-Length": length }, user);
    expect(await declare("0")).toBe("422 header.Upload-Length");
    expect(await declare("10")).toBe("400 bad_request");
    expect(await declare("10001")).toBe("413 payload_too_large");
    expect(await declare("9001")).toBe("409 conflict");
    expect(await declare("9000")).toBe("204");
    // The length is now known and can no longer be changed.
    expect(await patch(id, 10, "x", { "Upload-Length": "100" }, user)).toBe("204");
    const asked = await user.call("HEAD", `/api/v1/uploads/${id}`, { headers: user.tus() });
    expect([asked.headers.get("upload-length"), asked.headers.get("upload-offset")]).toEqual(["9000", "11"]);
  });

  test("survives a restart, which does not take the empty upload for a complete one", async () => {
    await using own = await harness();
    const user = await createSessionUser(own);
    const id = (await createResumable(user)).body.asset.id;
    await own.restart();
    expect(await patch(id, 0, bytes, { "Upload-Length": String(bytes.length) }, user)).toBe("204");
  });
});

describe("tus-js-client", () => {
  const upload = (file: ConstructorParameters<typeof Upload>[0], options: UploadOptions): Promise<string> =>
    new Promise((resolve, reject) => {
      const one = new Upload(file, {
        endpoint: `${server.url()}${ENDPOINT}`,
        headers: { Authorization: `Bearer ${anna.key}` },
        retryDelays: [],
        onError: reject,
        onSuccess: () => resolve(one.url!.split("/").at(-1)!),
        ...options,
      });
      one.start();
    });

  test("creates and sends a file, in one PATCH and in several", async () => {
    for (const chunkSize of [Number.POSITIVE_INFINITY, 40_000]) {
      const id = await upload(Buffer.from(bytes), {
        chunkSize,
        metadata: { filename: "talk.wav", filetype: "audio/wav" },
      });
      await server.idle();
      expect(await read(id)).toMatchObject({ state: "ready", filename: "talk.wav", size_bytes: bytes.length });
    }
  });

  test("sends a stream whose length it learns while it reads", async () => {
    const options = { uploadLengthDeferred: true, chunkSize: bytes.length + 1 };
    const id = await upload(Readable.from([Buffer.from(bytes)]), options);
    await server.idle();
    expect(await read(id)).toMatchObject({ state: "ready", size_bytes: bytes.length });
  });

  test("shows why a creation is refused", async () => {
    const failure = await upload(Buffer.from(bytes), { metadata: { project_id: NO_ID } }).catch((error) => error);
    expect(failure).toBeInstanceOf(DetailedError);
    expect((failure as DetailedError).originalResponse?.getStatus()).toBe(404);
  });
});

describe("the session cookie", () => {
  const cookie = () => ({ Cookie: `service_session=${anna.key}` });
  const creation = (headers: Record<string, string>) => createResumable(server.nobody, { ...cookie(), ...headers });

  test("creates and transfers from a page of this server", async () => {
    const headers = { ...cookie(), Origin: server.url() };
    const { body } = await creation({ Origin: server.url(), "Upload-Length": String(bytes.length) });
    expect(await patch(body.session_id, 0, bytes, headers, server.nobody)).toBe("204");
    const asked = { headers: server.nobody.tus(cookie()) };
    expect((await server.nobody.call("HEAD", `/api/v1/uploads/${body.session_id}`, asked)).status).toBe(200);
    const url = { json: { type: "audio" }, headers };
    expect((await server.nobody.call("POST", "/api/v1/assets/upload-url", url)).status).toBe(201);
    expect((await server.nobody.call("DELETE", `/api/v1/assets/${body.asset.id}`, { headers })).status).toBe(204);
    expect(await attempt(anna, "DELETE", `/api/v1/assets/${body.asset.id}`)).toBe("404 not_found");
  });

  const own = () => server.url();
  const foreign = ["https://evil.example", "null", "", "http://127.0.0.1:1"];
  const SENDERS: [string, () => Record<string, string>, boolean][] = [
    ["a program", () => ({}), true],
    ["a program that says who asked for it", () => ({ "Sec-Fetch-Site": "none" }), true],
    ["a page of this server without an Origin", () => ({ "Sec-Fetch-Site": "same-origin" }), true],
    ["a page of this server", () => ({ Origin: own(), "Sec-Fetch-Site": "same-origin" }), true],
    ["a page of the same domain", () => ({ "Sec-Fetch-Site": "same-site" }), false],
    ["a page of another site", () => ({ "Sec-Fetch-Site": "cross-site" }), false],
    ["a browser of another time", () => ({ "Sec-Fetch-Site": "Same-Origin" }), false],
    ["two at once", () => ({ "Sec-Fetch-Site": "none, cross-site" }), false],
    ...foreign.flatMap((Origin): [string, () => Record<string, string>, boolean][] => [
      [`Origin ${Origin}`, () => ({ Origin }), false],
      [`Origin ${Origin} that claims to be no other site`, () => ({ Origin, "Sec-Fetch-Site": "none" }), false],
    ]),
  ];

  test.each(SENDERS)("of %s", async (_, sent, isAccepted) => {
    const as = server.nobody;
    const headers: Record<string, string> = { ...cookie(), ...sent() };
    const id = await open({ "Upload-Length": "100" });
    const { asset } = await createLink(anna);
    const transfer = async (method: string, more: Record<string, string> = {}) =>
      dashboardOutcome(await as.call(method, `/api/v1/uploads/${id}`, { headers: as.tus({ ...headers, ...more }) }));
    const json = { type: "audio" };
    const outcomes = [
      dashboardOutcome(await creation({ ...sent(), "Upload-Length": "100" })),
      dashboardOutcome(await as.call("POST", "/api/v1/assets/upload-url", { json, headers })),
      await patch(id, 0, "x", headers, as),
      await transfer("DELETE"),
      await transfer("POST", { "X-HTTP-Method-Override": "DELETE" }),
      dashboardOutcome(await as.call("DELETE", `/api/v1/assets/${asset.id}`, { headers })),
    ];
    const accepted = ["201", "201", "204", "204", "204", "204"];
    expect(outcomes).toEqual(isAccepted ? accepted : accepted.map(() => "403 forbidden"));
    // Reading needs no Origin, as everywhere.
    const read = await as.call("HEAD", `/api/v1/uploads/${id}`, { headers: as.tus(headers) });
    expect(read.status).toBe(isAccepted ? 404 : 200);
    const project = await as.call("POST", "/api/v1/projects", { json: { name: "P" }, headers });
    expect(project.status).toBe(headers.Origin === own() ? 201 : 403);
  });

  test("counts without an Origin for the calls of uploads only", () => {
    const lenient = dashboardRoutes.filter(({ access }) => access.origin === "optional");
    expect(lenient.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      "DELETE /assets/:asset_id",
      "POST /assets/upload-resumable",
      "POST /assets/upload-url",
    ]);
  });
});

test("Offcut-Workspace chooses the workspace of an upload, also of its transfer", async () => {
  const made = await anna.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  await server.services().store.write((tx) => grantWorkspace(tx, made.id, 100));
  const workspace = { "Offcut-Workspace": made.id };
  const id = await open({ ...workspace, "Upload-Length": "100" });
  expect(await patch(id, 0, "x")).toBe("404 not_found");
  expect(await patch(id, 0, "x", workspace)).toBe("204");
  expect(dashboardOutcome(await createResumable(anna, { "Offcut-Workspace": NO_ID }))).toBe("404 not_found");
});

describe("another origin that is configured", () => {
  test("may send every header of the protocol and read every answer", async () => {
    await using own = await harness({ CORS_ORIGINS: "https://app.example" });
    const origin = { Origin: "https://app.example" };
    const preflight = await own.nobody.call("OPTIONS", ENDPOINT, {
      headers: { ...origin, "Access-Control-Request-Method": "POST" },
    });
    const list = (name: string) => (preflight.headers.get(name) ?? "").toLowerCase().split(", ");
    expect(preflight.status).toBe(204);
    expect(list("access-control-allow-methods")).toEqual(expect.arrayContaining(["put", "patch", "head", "delete"]));
    const sent = ["offcut-workspace", "last-event-id", "idempotency-key", "tus-resumable"];
    const lengths = ["upload-length", "upload-defer-length", "upload-metadata", "upload-offset"];
    expect(list("access-control-allow-headers")).toEqual(expect.arrayContaining([...sent, ...lengths]));
    const user = await createSessionUser(own);
    const reply = await createResumable(user, origin);
    const exposed = (reply.headers.get("access-control-expose-headers") ?? "").toLowerCase().split(", ");
    expect(exposed).toEqual(
      expect.arrayContaining(["location", "upload-expires", "tus-resumable", "upload-defer-length"]),
    );
  });
});
