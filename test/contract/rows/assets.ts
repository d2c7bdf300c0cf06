/** Rows of the contract: assets and their states. */
import { expect } from "bun:test";
import { AppError } from "../../../src/domain/errors";
import { readBalance } from "../../../src/store/credits";
import { silentVideo, video, wav } from "../../http/media";
import { NO_ID } from "../../http/outcome";
import type { Asset, AssetDetail, LedgerEntry, Paged } from "../../http/resources";
import { createFixtures, limitRow, type Row } from "./fixtures";

export const assetRows: Row[] = [
  [
    "POST /v1/assets: 201, pending_upload, upload_url = Location, Upload-Expires, Tus-Resumable",
    async ({ call, anna }) => {
      const { id } = await anna.project();
      const made = await call<Asset>("POST", "/v1/assets", { project_id: id, size_bytes: 1_000, language: "EN" });
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({
        project_id: id,
        kind: "source",
        type: null,
        state: "pending_upload",
        extension: null,
        size_bytes: null,
        content_type: null,
        duration_seconds: null,
        language: "en",
        error_code: null,
      });
      expect(made.body.upload_url).toBe(made.headers.get("location"));
      expect(made.headers.get("tus-resumable")).toBe("1.0.0");
      const days = (Date.parse(made.headers.get("upload-expires")!) - Date.parse(made.body.created_at)) / 86_400_000;
      expect(days).toBeCloseTo(7, 3);
      const read = (await call<AssetDetail>("GET", `/v1/assets/${made.body.id}`)).body;
      expect(read).toMatchObject({ upload_url: made.body.upload_url, cuttable: false, download_url: null });
    },
  ],
  [
    "POST /v1/assets: size_bytes 1 to 63 is 400, 0, negative and not an integer 422, above the maximum 413",
    async ({ getOutcome, anna, server }) => {
      const { id } = await anna.project();
      const open = (size: unknown) => getOutcome("POST", "/v1/assets", { project_id: id, size_bytes: size });
      expect(await open(1)).toBe("400 bad_request");
      expect(await open(63)).toBe("400 bad_request");
      for (const bad of [0, -1, 64.5, "64", null]) expect(await open(bad)).toBe("422 validation_error body.size_bytes");
      const largest = server.services().config.maxUploadBytes;
      expect(await open(largest + 1)).toBe("413 payload_too_large");
      expect(await open(64)).toBe("201");
      expect(await open(largest)).toBe("201");
    },
  ],
  [
    "language: a 2-letter code or null, normalized to lower case",
    async ({ getOutcome, anna }) => {
      const { id } = await anna.project();
      const open = (language: unknown) =>
        getOutcome("POST", "/v1/assets", { project_id: id, size_bytes: 100, language });
      expect(await open(null)).toBe("201");
      for (const bad of ["eng", "e", "", "e1", 5]) expect(await open(bad)).toBe("422 validation_error body.language");
    },
  ],
  [
    "POST /v1/assets: 404 for an unknown or foreign project_id; 422 for an invalid UUID, missing and unknown properties",
    async ({ getOutcome, anna, bert }) => {
      const { id } = await anna.project();
      const json = { project_id: id, size_bytes: 100 };
      expect(await getOutcome("POST", "/v1/assets", { ...json, project_id: NO_ID })).toBe("404 not_found");
      expect(await getOutcome("POST", "/v1/assets", json, bert)).toBe("404 not_found");
      expect(await getOutcome("POST", "/v1/assets", { size_bytes: 100 })).toBe("422 validation_error body.project_id");
      expect(await getOutcome("POST", "/v1/assets", { ...json, more: 1 })).toBe("422 validation_error body.more");
    },
  ],
  [
    "POST /v1/assets: 402 insufficient_credits with a balance at or below zero",
    async ({ getOutcome, server }) => {
      const poor = await server.user(0);
      const json = { project_id: (await poor.project()).id, size_bytes: 100 };
      expect(await getOutcome("POST", "/v1/assets", json, poor)).toBe("402 insufficient_credits");
    },
  ],
  [
    "POST /v1/assets: 402 insufficient_credits while an asset is in pending_payment, whatever the balance",
    async ({ getOutcome, server }) => {
      const user = await server.user(1);
      const json = { project_id: (await user.project()).id, size_bytes: 100 };
      expect((await user.prepared(await user.upload(await wav(61)))).state).toBe("pending_payment");
      expect(await readBalance(server.services().store.read, user.userId)).toBe(1);
      expect(await getOutcome("POST", "/v1/assets", json, user)).toBe("402 insufficient_credits");
      await server.grant(user, 10);
      expect(await getOutcome("POST", "/v1/assets", json, user)).toBe("201");
    },
  ],
  [
    "POST /v1/assets: 409 conflict with 10 unfinished uploads; with Idempotency-Key 50 simultaneous requests create one",
    async ({ getOutcome, send, server }) => {
      const user = await server.user();
      const json = { project_id: (await user.project()).id, size_bytes: 100 };
      const call = { json, headers: { "Idempotency-Key": "k" } };
      const all = await Promise.all(Array.from({ length: 50 }, () => send<Asset>(user, "POST", "/v1/assets", call)));
      expect(
        new Set(all.map((reply) => `${reply.status} ${reply.body.id} ${reply.headers.get("location")}`)).size,
      ).toBe(1);
      expect(all[0]!.status).toBe(201);
      for (let n = 2; n <= 10; n++) expect(await getOutcome("POST", "/v1/assets", json, user)).toBe("201");
      expect(await getOutcome("POST", "/v1/assets", json, user)).toBe("409 conflict");
    },
  ],
  [
    "Upload-Metadata: filename as a bare basename, external_id echoed",
    async ({ anna, call }) => {
      const made = await anna.open(100, { filename: "C:\\takes/../a b.mp4", externalId: "reel 7" });
      const { body } = await call<AssetDetail>("GET", `/v1/assets/${made.id}`);
      expect(body).toMatchObject({ filename: "a b.mp4", external_id: "reel 7" });
    },
  ],
  [
    "asset fields: detected after the first chunk; size after the upload; duration once measured",
    async ({ anna, call, server }) => {
      const bytes = (await video(4)) as Uint8Array<ArrayBuffer>;
      const read = async (id: string) => (await call<AssetDetail>("GET", `/v1/assets/${id}`)).body;
      const { id } = await anna.open(bytes.length);
      await anna.patch(id, 0, bytes.slice(0, 20_000));
      expect(await read(id)).toMatchObject({
        state: "pending_upload",
        type: "video",
        extension: "mp4",
        content_type: "video/mp4",
        size_bytes: null,
      });
      const hold = server.speech.hold("analyze");
      await anna.patch(id, 20_000, bytes.slice(20_000));
      await hold.reached;
      expect(await read(id)).toMatchObject({
        state: "processing",
        upload_url: null,
        size_bytes: bytes.length,
        download_url: null,
        cuttable: false,
      });
      hold.release();
      await anna.prepared(id);
      expect(await read(id)).toMatchObject({
        state: "ready",
        cuttable: true,
        progress: null,
        width: 320,
        height: 240,
        frame_rate: { num: 10, den: 1 },
        video_codec: "h264",
        audio_codec: "aac",
        audio_tracks: 1,
      });
    },
  ],
  [
    "processing -> ready: the charge settles, asset.ready with previous_state processing",
    async ({ audioAsset, server }) => {
      const asset = await audioAsset();
      expect(asset).toMatchObject({
        state: "ready",
        duration_seconds: "4",
        has_transcript: true,
        external_id: "reel 7",
      });
      expect(await server.events(asset.id)).toEqual(["asset.ready from processing"]);
    },
  ],
  [
    "processing -> pending_payment -> ready: bytes kept, event sent, settled by the next top-up",
    async () => {
      await using dear = await createFixtures({ CREDITS_PER_MINUTE: "10" });
      const poor = await dear.server.user(1);
      const read = async (id: string) =>
        (await dear.call<AssetDetail>("GET", `/v1/assets/${id}`, undefined, poor)).body;
      const { id } = await poor.prepared(await poor.upload(await wav(2)));
      expect(await read(id)).toMatchObject({
        state: "pending_payment",
        cuttable: false,
        duration_seconds: "2",
        download_url: null,
        error_code: null,
      });
      expect(await dear.getOutcome("POST", "/v1/cuts", { asset_id: id }, poor)).toBe("409 asset_payment_required");
      expect(await dear.getOutcome("POST", "/v1/renders", { asset_id: id }, poor)).toBe("409 asset_not_ready");
      await dear.server.grant(poor, 10);
      expect(await read(id)).toMatchObject({ state: "ready", cuttable: true });
      expect(await dear.server.events(id)).toEqual([
        "asset.pending_payment from processing",
        "asset.ready from pending_payment",
      ]);
      const history = await dear.call<Paged<LedgerEntry>>("GET", "/v1/credits/history", undefined, poor);
      expect(history.body.items.map((entry) => [entry.type, entry.delta, entry.asset_id])).toEqual([
        ["consume_asset", -10, id],
        ["grant", 10, null],
        ["grant", 1, null],
      ]);
    },
  ],
  [
    "processing -> failed: error_code, error_message, nothing charged, asset.failed; cuts are 409 asset_failed",
    async ({ anna, call, getOutcome, server }) => {
      const { id } = await anna.prepared(await anna.upload(new Uint8Array(500).fill(65)));
      const { body } = await call<AssetDetail>("GET", `/v1/assets/${id}`);
      expect(body).toMatchObject({ state: "failed", error_code: "unsupported_media", duration_seconds: null });
      expect(body.error_message).toMatch(/./);
      expect(await server.events(id)).toEqual(["asset.failed from processing"]);
      expect(await getOutcome("POST", "/v1/cuts", { asset_id: id })).toBe("409 asset_failed");
      server.speech.failNext(new AppError("corrupt_media", "Broken."));
      const broken = await anna.prepared(await anna.upload(await wav(3)));
      expect(broken).toMatchObject({ state: "failed", error_code: "corrupt_media", duration_seconds: null });
      const history = await call<Paged<LedgerEntry>>("GET", "/v1/credits/history?limit=200");
      expect(history.body.items.filter((entry) => [id, broken.id].includes(entry.asset_id ?? ""))).toEqual([]);
    },
  ],
  [
    "A video without audio becomes ready and cuttable; its cut fails with no_speech",
    async ({ anna, call, server }) => {
      const asset = await anna.ready(await silentVideo());
      expect(asset).toMatchObject({ cuttable: true, audio_tracks: 0, has_transcript: false, transcript_url: null });
      const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
      const { body } = await call("GET", `/v1/cuts/${cut.id}`);
      expect(body).toMatchObject({ state: "failed", error_code: "no_speech", plan: null });
      expect(await server.events(cut.id)).toEqual(["cut.failed"]);
    },
  ],
  [
    "download_url: 15 minutes, HEAD, Range, If-Range, ETag, attachment with the name, nosniff",
    async ({ anna, audioAsset, server }) => {
      const url = (await anna.asset((await audioAsset()).id)).download_url!;
      const whole = await fetch(url);
      const size = Number(whole.headers.get("content-length"));
      expect([whole.status, (await whole.bytes()).length]).toEqual([200, size]);
      expect(whole.headers.get("content-disposition")).toMatch(/^attachment; filename="talk.wav"/);
      expect(whole.headers.get("x-content-type-options")).toBe("nosniff");
      const etag = whole.headers.get("etag")!;
      const call = async (headers: Record<string, string>, method = "GET") =>
        (await fetch(url, { method, headers })).status;
      expect(await call({}, "HEAD")).toBe(200);
      expect(await call({ Range: "bytes=0-9" })).toBe(206);
      expect(await call({ Range: "bytes=0-9", "If-Range": etag })).toBe(206);
      expect(await call({ Range: "bytes=0-9", "If-Range": '"other"' })).toBe(200);
      expect(await call({ Range: `bytes=${size}-` })).toBe(416);
      server.advance(15 * 60_000 - 5_000);
      expect(await call({})).toBe(200);
      server.advance(10_000);
      expect(await call({})).toBe(404);
      expect((await fetch((await anna.asset((await audioAsset()).id)).download_url!)).status).toBe(200);
    },
  ],
  limitRow("/v1/assets", 100, 20),
  [
    "GET /v1/assets: project_id and state filter, newest first, each once, only the user's own",
    async ({ ids, getOutcome, server, bert }) => {
      const user = await server.user();
      const project = await user.project();
      const made: string[] = [];
      for (let n = 0; n < 5; n++) made.push((await user.open(100, { projectId: project.id })).id);
      const elsewhere = await user.ready(await wav(2));
      const read = (query: string) => ids(`/v1/assets?${query}`, user);
      expect(await read("limit=2")).toEqual([elsewhere.id, ...made.toReversed()]);
      expect(await read(`limit=2&project_id=${project.id}`)).toEqual(made.toReversed());
      expect(await read("limit=100&state=ready")).toEqual([elsewhere.id]);
      expect(await read(`limit=3&state=pending_upload&project_id=${project.id}`)).toEqual(made.toReversed());
      expect(await ids(`/v1/assets?limit=100&project_id=${project.id}`, bert)).toEqual([]);
      expect(await getOutcome("GET", "/v1/assets?state=x")).toBe("422 validation_error query.state");
      expect(await getOutcome("GET", "/v1/assets?project_id=x")).toBe("422 validation_error query.project_id");
    },
  ],
  [
    "GET and DELETE /v1/assets/{id}: 404 for unknown and foreign ones, 422 for an invalid UUID",
    async ({ getOutcome, audioAsset, bert }) => {
      const { id } = await audioAsset();
      for (const method of ["GET", "DELETE"]) {
        expect(await getOutcome(method, `/v1/assets/${id}`, undefined, bert)).toBe("404 not_found");
        expect(await getOutcome(method, `/v1/assets/${NO_ID}`)).toBe("404 not_found");
        expect(await getOutcome(method, "/v1/assets/x")).toBe("422 validation_error path.asset_id");
      }
    },
  ],
  [
    "DELETE /v1/assets/{id}: 204 with its cuts, renders and files; running jobs are cancelled",
    async ({ anna, getOutcome, server }) => {
      const asset = await anna.ready(await video(4));
      const cut = await anna.cutEnded((await anna.startCut({ asset_id: asset.id })).id);
      const hold = server.holdRenders();
      const render = await anna.startRender({ asset_id: asset.id, cut_id: cut.id });
      await hold.reached;
      expect(await getOutcome("DELETE", `/v1/assets/${asset.id}`)).toBe("204");
      hold.release();
      for (const path of [`/v1/assets/${asset.id}`, `/v1/cuts/${cut.id}`, `/v1/renders/${render.id}`]) {
        expect(await getOutcome("GET", path)).toBe("404 not_found");
      }
      expect(await server.events(render.id)).toEqual(["render.cancelled"]);
      await server.idle();
      for (const id of [asset.id, cut.id, render.id]) expect(await server.leftovers(id)).toEqual([]);
      expect((await server.events(asset.id)).length).toBe(1);
    },
  ],
];
