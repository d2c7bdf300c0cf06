/** Rows of the contract: uploads that the dashboard family creates. */
import { expect } from "bun:test";
import { setQuotaOverride } from "../../../src/store/workspaces";
import type { CallOptions, Client } from "../../http/client";
import { video, wav } from "../../http/media";
import { dashboardOutcome, NO_ID } from "../../http/outcome";
import type { AssetDetail, Paged, Project } from "../../http/resources";
import { formatMetadata, type ResumableUpload, type SignedUpload } from "../../http/upload-clients";
import { listErrors } from "../response-checks";
import * as schemas from "../upload-schemas";
import { startOwn } from "./account-setting";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

const SIGNED = "/assets/upload-url";
const RESUMABLE = "/assets/upload-resumable";

const createLink = async ({ call }: DashboardFixtures, json: Record<string, unknown> = { type: "audio" }) =>
  (await call<SignedUpload>("POST", SIGNED, { json })).body;
const createResumable = ({ call }: DashboardFixtures, headers: Record<string, string> = {}) =>
  call<ResumableUpload>("POST", RESUMABLE, { headers });
const put = async ({ server }: DashboardFixtures, url: string, body: BodyInit, headers: Record<string, string> = {}) =>
  dashboardOutcome(await server.nobody.call("PUT", url, { body, headers }));
const sendTus = (client: Client, method: string, id: string, options: CallOptions = {}) =>
  client.call(method, `/api/v1/uploads/${id}`, { ...options, headers: client.tus(options.headers) });
const patch = async (client: Client, id: string, body: BodyInit, more: Record<string, string> = {}) => {
  const headers = { "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0", ...more };
  return dashboardOutcome(await sendTus(client, "PATCH", id, { body, headers }));
};
const prepared = async ({ server, anna }: DashboardFixtures, id: string): Promise<AssetDetail> => {
  await server.idle();
  return anna.must<AssetDetail>("GET", `/api/v1/assets/${id}`);
};
const bytesOf = async (seconds: number) => (await wav(seconds)) as Uint8Array<ArrayBuffer>;

export const uploadCreationRows: DashboardRow[] = [
  [
    "POST assets/upload-url: { asset, upload: { url, method, headers, expires_at } } for audio, video, rendered_video, cut_file",
    async (fixtures) => {
      for (const [type, kind] of [
        ["audio", "source"],
        ["video", "source"],
        ["rendered_video", "rendered_video"],
        ["cut_file", "cut_file"],
      ] as const) {
        const reply = await fixtures.call<SignedUpload>("POST", SIGNED, { json: { type, content_type: "video/mp4" } });
        const { asset, upload } = reply.body;
        expect(reply.headers.get("location")).toBe(`/api/v1/assets/${asset.id}`);
        expect(listErrors(schemas.signedUpload, reply.body)).toEqual([]);
        expect([asset.kind, asset.upload_url]).toEqual([kind, null]);
        expect(upload).toMatchObject({ method: "PUT", headers: { "Content-Type": "video/mp4" } });
        expect(Date.parse(upload.expires_at)).toBeGreaterThan(Date.now());
        await fixtures.call("DELETE", `/assets/${asset.id}`);
      }
    },
  ],
  [
    "content_type string or null, length 1 to 255; no duration hint is accepted",
    async ({ call, getOutcome }) => {
      const create = (more: object) => getOutcome("POST", SIGNED, { json: { type: "cut_file", ...more } });
      expect(await create({ content_type: null })).toBe("201");
      expect(await create({ content_type: "" })).toBe("422 validation_error body.content_type");
      expect(await create({ content_type: "x".repeat(256) })).toBe("422 validation_error body.content_type");
      // The type is echoed as a header of the upload, so text that is invalid in a header must be rejected.
      for (const [content_type, header] of [
        ["video/mp4; codecs=avc1", "video/mp4; codecs=avc1"],
        ["é\r\nX: b", "application/octet-stream"],
      ]) {
        const { status, body } = await call<SignedUpload>("POST", SIGNED, { json: { type: "cut_file", content_type } });
        expect([status, new Headers(body.upload.headers).get("content-type")]).toEqual([201, header!]);
      }
      expect(await create({ duration_seconds: 5 })).toBe("422 validation_error body.duration_seconds");
      expect(await getOutcome("POST", SIGNED, { json: {} })).toBe("422 validation_error body.type");
    },
  ],
  [
    "Completion of the signed PUT is the upload's confirmation; the type is detected from the bytes",
    async (fixtures) => {
      const { asset, upload } = await createLink(fixtures, { type: "video" });
      expect(await put(fixtures, upload.url, await bytesOf(1), upload.headers)).toBe("204");
      expect(await prepared(fixtures, asset.id)).toMatchObject({ state: "ready", type: "audio", cuttable: true });
      expect(await put(fixtures, upload.url, await bytesOf(1))).toBe("409 conflict");
    },
  ],
  [
    "An altered upload link is 403, one of a deleted asset 404; a PUT of fewer than 64 bytes 400",
    async (fixtures) => {
      const { asset, upload } = await createLink(fixtures);
      expect(await put(fixtures, upload.url.replace(asset.id, NO_ID), "x".repeat(64))).toBe("403 forbidden");
      expect(await put(fixtures, `${upload.url}A`, "x".repeat(64))).toBe("403 forbidden");
      expect(await put(fixtures, upload.url, "x".repeat(63))).toBe("400 bad_request");
      await fixtures.call("DELETE", `/assets/${asset.id}`);
      expect(await put(fixtures, upload.url, "x".repeat(64))).toBe("404 not_found");
    },
  ],
  [
    "rendered_video and cut_file: never charged, transcribed or cuttable, nor in lists; an invalid cut_file fails with unsupported_media",
    async (fixtures) => {
      const { call, getOutcome } = fixtures;
      const rendered = await createLink(fixtures, { type: "rendered_video" });
      expect(await put(fixtures, rendered.upload.url, (await video(1)) as Uint8Array<ArrayBuffer>)).toBe("204");
      const cut = await createLink(fixtures, { type: "cut_file" });
      const plan = JSON.stringify({
        segments: [
          { start: 0, end: 1 },
          { start: 4, end: 6.5 },
        ],
      }).padEnd(64);
      expect(await put(fixtures, cut.upload.url, plan)).toBe("204");
      const wrong = await createLink(fixtures, { type: "cut_file" });
      expect(await put(fixtures, wrong.upload.url, "x".repeat(64))).toBe("204");
      const free = { cuttable: false, has_transcript: false };
      expect(await prepared(fixtures, rendered.asset.id)).toMatchObject({ ...free, state: "ready", type: "video" });
      expect(await prepared(fixtures, cut.asset.id)).toMatchObject({
        ...free,
        state: "ready",
        type: null,
        duration_seconds: "3.5",
      });
      expect(await prepared(fixtures, wrong.asset.id)).toMatchObject({
        state: "failed",
        error_code: "unsupported_media",
      });
      const history = await call<Paged<{ asset_id: string | null }>>("GET", "/credits/history");
      const { items } = (await call<Paged<{ id: string }>>("GET", "/assets?limit=100")).body;
      for (const { id } of [rendered.asset, cut.asset]) {
        expect(history.body.items.map((entry) => entry.asset_id)).not.toContain(id);
        expect(items.map((asset) => asset.id)).not.toContain(id);
        expect(await getOutcome("POST", "/cuts", { json: { asset_id: id } })).toBe("409 conflict");
        expect(await getOutcome("POST", "/renders", { json: { asset_id: id } })).toBe("409 asset_not_ready");
      }
    },
  ],
  [
    'Without project_id the asset goes to the project "Inbox", made on first use; another\'s project is 404',
    async (fixtures) => {
      const { anna, bert, call, getOutcome } = fixtures;
      const [first, second] = [await createLink(fixtures), (await createResumable(fixtures)).body];
      expect(second.asset.project_id).toBe(first.asset.project_id);
      const { body } = await call<Project>("GET", `/projects/${first.asset.project_id}`);
      expect(body.name).toBe("Inbox");
      const named = await anna.must<Project>("POST", "/api/v1/projects", { json: { name: "P" } });
      expect((await createLink(fixtures, { type: "audio", project_id: named.id })).asset.project_id).toBe(named.id);
      const metadata = (id: string) => ({ "Upload-Metadata": formatMetadata({ project_id: id }) });
      expect((await createResumable(fixtures, metadata(named.id))).body.asset.project_id).toBe(named.id);
      const foreign = await bert.must<Project>("POST", "/api/v1/projects", { json: { name: "P" } });
      expect(await getOutcome("POST", SIGNED, { json: { type: "audio", project_id: foreign.id } })).toBe(
        "404 not_found",
      );
      expect(await getOutcome("POST", RESUMABLE, { headers: metadata(foreign.id) })).toBe("404 not_found");
    },
  ],
  [
    "POST assets/upload-resumable: { asset, session_id, expires_at }, Location /api/v1/uploads/{id}, Tus-Resumable, Upload-Expires",
    async (fixtures) => {
      const bytes = await bytesOf(1);
      const { status, headers, body } = await createResumable(fixtures, {
        "Upload-Length": String(bytes.length),
        "Upload-Metadata": formatMetadata({ filename: "x/talk.wav", external_id: "e-1" }),
        "Tus-Resumable": "1.0.0",
      });
      expect([status, headers.get("location")]).toEqual([201, `/api/v1/uploads/${body.session_id}`]);
      expect(listErrors(schemas.resumableUpload, body)).toEqual([]);
      expect(headers.get("tus-resumable")).toBe("1.0.0");
      expect(Date.parse(headers.get("upload-expires")!)).toBeGreaterThan(Date.now() + 6 * 86_400_000);
      expect(Date.parse(body.expires_at)).toBeGreaterThan(Date.now() + 6 * 86_400_000);
      expect(await patch(fixtures.anna, body.session_id, bytes)).toBe("204");
      expect(await prepared(fixtures, body.asset.id)).toMatchObject({
        state: "ready",
        filename: "talk.wav",
        external_id: "e-1",
      });
    },
  ],
  [
    "OPTIONS assets/upload-resumable: version, extensions with creation, Tus-Max-Size, without authentication",
    async ({ server }) => {
      const { status, headers } = await server.nobody.call("OPTIONS", `/api/v1${RESUMABLE}`);
      expect([status, headers.get("tus-version"), headers.get("tus-max-size")]).toEqual([
        204,
        "1.0.0",
        String(100 * 1024 ** 3),
      ]);
      expect(headers.get("tus-extension")).toBe("creation,creation-defer-length,termination,expiration");
    },
  ],
  [
    "size_bytes from 1 to 63: 400; 0, negative or not an integer: 422; above Tus-Max-Size 413; Tus-Resumable of another version 412",
    async ({ getOutcome }) => {
      const open = (headers: Record<string, string>) => getOutcome("POST", RESUMABLE, { headers });
      for (const [length, expected] of [
        ["63", "400 bad_request"],
        ["0", "422 validation_error header.Upload-Length"],
        ["-1", "422 validation_error header.Upload-Length"],
        ["x", "422 validation_error header.Upload-Length"],
        [String(100 * 1024 ** 3 + 1), "413 payload_too_large"],
      ] as const)
        expect(await open({ "Upload-Length": length })).toBe(expected);
      expect(await open({ "Tus-Resumable": "0.2.2" })).toBe("412 precondition_failed");
    },
  ],
  [
    "Without Upload-Length the length is deferred; the first PATCH carries it, and size_bytes is null until then",
    async (fixtures) => {
      const { anna } = fixtures;
      const { body } = await createResumable(fixtures, { "Upload-Defer-Length": "1" });
      expect(body.asset.size_bytes).toBeNull();
      const head = await sendTus(anna, "HEAD", body.session_id);
      expect([head.headers.get("upload-defer-length"), head.headers.get("upload-length")]).toEqual(["1", null]);
      const bytes = await bytesOf(1);
      expect(await patch(anna, body.session_id, bytes)).toBe("400 bad_request");
      expect(await patch(anna, body.session_id, bytes, { "Upload-Length": "0" })).toStartWith("422");
      expect(await patch(anna, body.session_id, bytes, { "Upload-Length": String(bytes.length) })).toBe("204");
      expect(await prepared(fixtures, body.asset.id)).toMatchObject({ state: "ready", size_bytes: bytes.length });
    },
  ],
  [
    "Concurrent unfinished uploads: 10 (OFFCUT_MAX_UPLOADS), whichever way they were created; no credits: 402 for what is charged",
    async () => {
      await using server = await startOwn({ MAX_UPLOADS: "2" });
      const user = await server.user(0);
      const create = async (path: string, options: CallOptions) =>
        dashboardOutcome(await user.call("POST", `/api/v1${path}`, options));
      expect(await create(SIGNED, { json: { type: "audio" } })).toBe("402 insufficient_credits");
      expect(await create(RESUMABLE, {})).toBe("402 insufficient_credits");
      const type = { headers: { "Upload-Metadata": formatMetadata({ type: "cut_file" }) } };
      expect(await create(RESUMABLE, type)).toBe("201");
      expect(await create(SIGNED, { json: { type: "rendered_video" } })).toBe("201");
      expect(await create(RESUMABLE, type)).toBe("409 conflict");
      expect(await create(SIGNED, { json: { type: "cut_file" } })).toBe("409 conflict");
    },
  ],
  [
    "Upload-related dashboard endpoints also accept a session cookie as a fallback when the header is omitted",
    async (fixtures) => {
      const { server, anna, call } = fixtures;
      const headers = { Cookie: `service_session=${anna.key}`, Origin: server.url() };
      const as = server.nobody;
      const { body } = await call<ResumableUpload>("POST", RESUMABLE, {
        as,
        headers: { ...headers, "Upload-Length": "64" },
      });
      expect(await patch(as, body.session_id, "x".repeat(10), headers)).toBe("204");
      expect((await sendTus(as, "HEAD", body.session_id, { headers })).headers.get("upload-offset")).toBe("10");
      expect((await sendTus(as, "DELETE", body.session_id, { headers })).status).toBe(204);
      const link = await call<SignedUpload>("POST", SIGNED, { as, headers, json: { type: "audio" } });
      expect((await call("DELETE", `/assets/${link.body.asset.id}`, { as, headers })).status).toBe(204);
    },
  ],
  [
    "The session cookie without an Origin is accepted unless another site sent the request; any foreign Origin is 403",
    async (fixtures) => {
      const { server, anna, call } = fixtures;
      const as = server.nobody;
      const cookie = { Cookie: `service_session=${anna.key}` };
      for (const [sent, isAccepted] of [
        [{}, true],
        [{ "Sec-Fetch-Site": "none" }, true],
        [{ "Sec-Fetch-Site": "same-site" }, false],
        [{ "Sec-Fetch-Site": "cross-site" }, false],
        [{ Origin: "https://other.example" }, false],
        [{ Origin: "null" }, false],
      ] as const) {
        const headers = { ...cookie, ...sent };
        const id = (await createResumable(fixtures)).body.session_id;
        const made = await call<ResumableUpload>("POST", RESUMABLE, { as, headers });
        const link = await call<SignedUpload>("POST", SIGNED, { as, headers, json: { type: "audio" } });
        const statuses = [made.status, link.status, (await sendTus(as, "DELETE", id, { headers })).status];
        statuses.push((await call("DELETE", `/assets/${id}`, { as, headers })).status);
        expect([sent, statuses]).toEqual([sent, isAccepted ? [201, 201, 204, 404] : [403, 403, 403, 403]]);
        for (const asset of isAccepted ? [made.body.asset.id, link.body.asset.id] : [id])
          await call("DELETE", `/assets/${asset}`);
      }
    },
  ],
  [
    "GET, PUT /api/v1/assets/{id}/cut-after-upload: { mode, script, error_message }, until the recording can be cut; mode null: not at all",
    async ({ call, bert: as }) => {
      const project = await call<{ id: string; cut_after_upload: object }>("POST", "/projects", {
        ...{ as, json: { name: "Cut", cut_after_upload: { mode: "loose" } } },
      });
      expect(project.body.cut_after_upload).toEqual({ mode: "loose", language: null });
      const json = { project_id: project.body.id, size_bytes: 100 };
      const { body: asset } = await call<{ id: string }>("POST", "/assets", { as, json });
      const path = `/assets/${asset.id}/cut-after-upload`;
      expect((await call("GET", path, { as })).body).toEqual({ mode: "loose", script: "", error_message: null });
      const put = (json: object) => call("PUT", path, { as, json });
      expect((await put({ mode: "tight", script: "One." })).body).toMatchObject({ mode: "tight", script: "One." });
      expect((await put({ mode: null })).body).toEqual({ mode: null, script: "", error_message: null });
      await call("DELETE", `/assets/${asset.id}`, { as });
    },
  ],
  [
    "GET /api/v1/uploads/limits: the largest file, and the room that the disk and the quota of the workspace have",
    async (fixtures) => {
      const { server, call, getOutcome, bert } = fixtures;
      const { config, store } = server.services();
      const read = async (as = bert) => {
        const { status, body } = await call<{ max_bytes: number; free_bytes: number }>("GET", "/uploads/limits", {
          as,
        });
        expect([status, body.max_bytes]).toEqual([200, config.maxUploadBytes]);
        return body.free_bytes;
      };
      expect(await read()).toBeGreaterThan(1e9);
      await store.write((tx) => setQuotaOverride(tx, bert.userId, 1_000_000));
      expect(await read()).toBe(1_000_000);
      const headers = { "Upload-Length": "400000" };
      const open = await call<ResumableUpload>("POST", RESUMABLE, { as: bert, headers });
      expect(await read()).toBe(600_000);
      await store.write((tx) => setQuotaOverride(tx, bert.userId, 1));
      expect(await read()).toBe(0);
      await call("DELETE", `/assets/${open.body.asset.id}`, { as: bert });
      await store.write((tx) => setQuotaOverride(tx, bert.userId, null));
      expect(await getOutcome("GET", "/uploads/limits", { as: server.nobody })).toBe("401 unauthenticated");
    },
  ],
  [
    "DELETE /api/v1/assets/{asset_id}: 204; then, and of another user's, 404",
    async (fixtures) => {
      const { getOutcome, bert } = fixtures;
      const { asset } = await createLink(fixtures);
      const path = `/assets/${asset.id}`;
      expect(await getOutcome("DELETE", path, { as: bert })).toBe("404 not_found");
      expect(await getOutcome("DELETE", path)).toBe("204");
      expect(await getOutcome("DELETE", path)).toBe("404 not_found");
    },
  ],
];
