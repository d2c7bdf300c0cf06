/** /v1/assets */
import { Type } from "@sinclair/typebox";
import { TICKS_PER_SECOND } from "../../domain/time";
import { type Asset, findAsset, listAssets } from "../../store/assets";
import { toPage } from "../../store/paging";
import { readProgress } from "../../store/steps";
import { isCuttable } from "../../work/cut";
import { removeAsset } from "../../work/deletion";
import { withIdempotencyKey } from "../../work/idempotency";
import type { Services } from "../../work/services";
import {
  createUpload,
  getUploadActivityCutoff,
  getUploadExpiry,
  isUploadExpired,
  parseUploadMetadata,
} from "../../work/uploads";
import { type Call, created, formatTime, noContent, ok } from "../call";
import { oneOf, pagingParameters, strictObject, uuidField } from "../fields";
import { respondsWith, respondsWithNothing, respondsWithPage } from "../response-docs";
import { type Route, route } from "../route";

/** Where the asset's bytes are sent. */
export const uploadUrl = (services: Services, asset: Asset): string => `${services.publicUrl()}/v1/uploads/${asset.id}`;

/** Ticks as a decimal number of seconds without needless zeros. */
export const formatDecimalSeconds = (ticks: number): string => {
  const fraction = String(ticks % TICKS_PER_SECOND)
    .padStart(6, "0")
    .replace(/0+$/, "");
  return `${Math.floor(ticks / TICKS_PER_SECOND)}${fraction ? `.${fraction}` : ""}`;
};

/** The summary, as it is returned on create and in lists. */
function showSummary(services: Services, asset: Asset) {
  const isUploading = asset.state === "pending_upload";
  return {
    id: asset.id,
    project_id: asset.project_id,
    kind: asset.kind,
    type: asset.type,
    state: asset.state,
    extension: asset.extension,
    size_bytes: isUploading ? null : asset.upload_length,
    content_type: asset.content_type,
    duration_seconds: asset.duration === null ? null : formatDecimalSeconds(asset.duration),
    language: asset.language,
    external_id: asset.external_id,
    error_code: asset.error_code,
    error_message: asset.error_message,
    created_at: formatTime(asset.created_at),
    upload_url: isUploading ? uploadUrl(services, asset) : null,
  };
}

/** The detail: the summary and what only the single read has. */
function showDetail(services: Services, asset: Asset, progress: number | null) {
  const link = (what: string, exists: boolean) =>
    exists ? services.links.sign({ kind: "assets", id: asset.id, what }, services.now()) : null;
  const { info } = asset;
  const isUsable = asset.state === "ready";
  return {
    ...showSummary(services, asset),
    filename: asset.filename,
    download_url: link("source", isUsable),
    cuttable: isCuttable(asset),
    progress: asset.state === "processing" ? progress : null,
    width: info?.video?.width ?? null,
    height: info?.video?.height ?? null,
    frame_rate: info?.video?.frameRate ?? null,
    video_codec: info?.video?.codec ?? null,
    audio_codec: info?.audio[0]?.codec ?? null,
    audio_tracks: info?.audio.length ?? null,
    has_transcript: asset.has_transcript,
    poster_url: link("poster", isUsable && asset.has_poster),
    filmstrip_url: link("filmstrip", isUsable && asset.has_poster),
    preview_url: link("preview", isUsable && asset.has_preview),
    waveform_url: link("waveform", isUsable && asset.has_waveform),
    transcript_url: link("transcript", isCuttable(asset) && asset.has_transcript),
  };
}

const path = "/assets/:asset_id";
const load = async (call: Call) => {
  const asset = await findAsset(call.services.store.read, call.user.id, call.params.asset_id!);
  return asset && !isUploadExpired(asset, call.services.now()) ? asset : null;
};

const language = Type.Union([Type.String({ pattern: "^[A-Za-z]{2}$" }), Type.Null()], {
  errorText: "must be a 2-letter ISO 639-1 code or null",
});
const sizeBytes = Type.Integer({ exclusiveMinimum: 0, errorText: "must be a whole number above 0" });
const state = oneOf("pending_upload", "processing", "pending_payment", "ready", "failed");

export const assetRoutes: Route[] = [
  route({
    method: "POST",
    path: "/assets",
    summary: "Make an asset and open its resumable upload",
    example: { project_id: "01a1fc62-d879-7691-a33f-32242f9d1701", size_bytes: 104857600, language: "en" },
    errors: ["insufficient_credits", "not_found", "conflict"],
    body: strictObject({
      project_id: uuidField("The project it belongs to"),
      size_bytes: sizeBytes,
      language: Type.Optional(language),
    }),
    idempotent: true,
    headers: {
      "Upload-Metadata": "As TUS has it: pairs of a key and a base64 value. `filename` and `external_id` are kept",
    },
    responses: { 201: respondsWith("Asset", "The asset, with the transfer URL in `Location` and `upload_url`") },
    handle: async ({ services, user, idempotency, request }, { body }) => {
      const metadata = parseUploadMetadata(request.headers.get("upload-metadata"));
      return services.store.write((tx) =>
        withIdempotencyKey(tx, idempotency, services.now(), async () => {
          const asset = await createUpload(services, tx, {
            userId: user.id,
            projectId: body.project_id.toLowerCase(),
            sizeBytes: body.size_bytes,
            language: body.language?.toLowerCase() ?? null,
            metadata,
          });
          const reply = created(uploadUrl(services, asset), showSummary(services, asset), {
            "Upload-Expires": new Date(getUploadExpiry(asset)).toUTCString(),
            "Tus-Resumable": "1.0.0",
          });
          return { status: reply.status, body: reply.body, headers: reply.headers ?? {} };
        }),
      );
    },
  }),
  route({
    method: "GET",
    path: "/assets",
    summary: "List assets, the newest first",
    query: strictObject({
      ...pagingParameters(),
      project_id: Type.Optional(uuidField("Only those of this project")),
      state: Type.Optional(state),
    }),
    responses: { 200: respondsWithPage("Asset", "A page of asset summaries") },
    handle: async ({ services, user }, { query }) => {
      const list = `assets ${user.id} ${query.project_id ?? ""} ${query.state ?? ""}`;
      const rows = await listAssets(services.store.read, user.id, {
        projectId: query.project_id?.toLowerCase() ?? null,
        state: query.state ?? null,
        uploadsActiveSince: getUploadActivityCutoff(services.now()),
        afterId: query.cursor ? String(services.cursors.decode(list, query.cursor)[0]) : null,
        limit: query.limit + 1,
      });
      const show = (asset: Asset) => showSummary(services, asset);
      return ok(toPage(rows, query.limit, show, (row) => services.cursors.encode(list, [row.id])));
    },
  }),
  route({
    method: "GET",
    path,
    summary: "Read an asset, with a fresh download link when it is ready",
    responses: { 200: respondsWith("AssetDetail", "The asset's detail") },
    load,
    handle: async ({ services }, { resource }) => {
      const progress = resource.state === "processing" ? await readProgress(services.store.read, [resource.id]) : null;
      return ok(showDetail(services, resource, progress?.get(resource.id) ?? null));
    },
  }),
  route({
    method: "DELETE",
    path,
    summary: "Delete an asset, its cuts, its renders and their bytes",
    responses: { 204: respondsWithNothing("Deleted") },
    load,
    handle: async ({ services }, { resource }) => {
      await removeAsset(services, resource.id);
      return noContent();
    },
  }),
];
