/** Assets: the summary, the detail, and opening an upload. */
import { Type } from "@sinclair/typebox";
import { oneOf, orNull, strictObject, uuidField } from "../../domain/schema-parts";
import { ASSET_STATES } from "../../domain/states";
import { formatDecimalSeconds } from "../../domain/time";
import { type Asset, findAsset, listAssets } from "../../store/assets";
import { readProgress } from "../../store/steps";
import { toActor, UPLOAD_ACCESS } from "../../work/access/access";
import { removeAsset } from "../../work/assets/deletion";
import { isCuttable } from "../../work/cuts/new-cuts";
import { parseUploadMetadata } from "../../work/uploads/metadata";
import { createUpload, getUploadCutoff, getUploadExpiry, isUploadExpired } from "../../work/uploads/uploads";
import { type Call, created, createOnce, ok } from "../call";
import { listRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { type ResourceLoader, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";

const createUploadUrl = (call: Call, asset: Asset): string =>
  `${call.services.publicUrl()}${call.url(`/uploads/${asset.id}`)}`;

export async function showAsset(call: Call, asset: Asset): Promise<Resource<"Asset">> {
  const isUploading = asset.state === "pending_upload";
  return showRow(SCHEMAS.Asset, asset, {
    size_bytes: isUploading ? null : asset.upload_length,
    duration_seconds: asset.duration === null ? null : formatDecimalSeconds(asset.duration),
    upload_url: isUploading && asset.put_until === null ? createUploadUrl(call, asset) : null,
    ...(await call.authorship(asset.created_by)),
  });
}

/**
 * Returns an asset with its details. Lists omit the links, which are signed individually, and read the progress of all
 * at once.
 */
export async function showAssetDetail(
  call: Call,
  asset: Asset,
  { hasLinks = true, progress }: { hasLinks?: boolean; progress?: number | null } = {},
): Promise<Resource<"AssetDetail">> {
  const { services } = call;
  const link = (what: string, exists: boolean) =>
    exists && hasLinks ? services.links.sign({ kind: "assets", id: asset.id, what }, services.now()) : null;
  const { info } = asset;
  const isUsable = asset.state === "ready";
  return {
    ...(await showAsset(call, asset)),
    filename: asset.filename,
    download_url: link("source", isUsable),
    cuttable: isCuttable(asset),
    progress:
      asset.state !== "processing" ? null : progress !== undefined ? progress : await readAssetProgress(call, asset),
    width: info?.video?.width ?? null,
    height: info?.video?.height ?? null,
    frame_rate: info?.video?.frameRate ?? null,
    video_codec: info?.video?.codec ?? null,
    audio_codec: info?.audio[0]?.codec ?? null,
    audio_tracks: info?.audio.length ?? null,
    has_transcript: asset.has_transcript,
    language_detected: asset.language_detected,
    poster_url: link("poster", isUsable && asset.has_poster),
    filmstrip_url: link("filmstrip", isUsable && asset.has_poster),
    preview_url: link("preview", isUsable && asset.has_preview),
    waveform_url: link("waveform", isUsable && asset.has_waveform),
    transcript_url: link("transcript", isCuttable(asset) && asset.has_transcript),
  };
}

/** Returns the progress of the preparation, 0 to 1; null if no step runs. */
const readAssetProgress = async ({ services }: Call, asset: Asset): Promise<number | null> =>
  (await readProgress(services.store.read, [asset.id])).get(asset.id) ?? null;

export const assetLoader: ResourceLoader<Asset> = {
  name: "Asset",
  find: async ({ services, principal, params }) => {
    const asset = await findAsset(services.store.read, principal.workspace.id, params.asset_id!);
    return asset && !isUploadExpired(asset, services.now()) ? asset : null;
  },
};

export const language = orNull(
  Type.String({ pattern: "^[A-Za-z]{2}$", errorText: "must be a 2-letter ISO 639-1 code" }),
);
const sizeBytes = Type.Integer({ exclusiveMinimum: 0, errorText: "must be an integer above 0" });
const state = oneOf(...ASSET_STATES);

export const create = route({
  summary: "Create an asset and open its resumable upload",
  example: { project_id: "01a1fc62-d879-7691-a33f-32242f9d1701", size_bytes: 104857600, language: "en" },
  errors: ["insufficient_credits", "not_found", "conflict"],
  body: strictObject({
    project_id: uuidField("The project of the asset"),
    size_bytes: sizeBytes,
    language: Type.Optional(language),
  }),
  idempotent: true,
  headers: {
    "Upload-Metadata": "TUS metadata: pairs of a key and a base64 value. `filename` and `external_id` are stored",
  },
  responses: { 201: respondsWith("Asset", "The asset, with the transfer URL in `Location` and `upload_url`") },
  handle: async (call, { body }) => {
    const metadata = parseUploadMetadata(call.request.headers.get("upload-metadata"));
    return createOnce(call, async (tx) => {
      const asset = await createUpload(call.services, tx, {
        ...toActor(call.principal),
        kind: "source",
        putUntil: null,
        projectId: body.project_id,
        sizeBytes: body.size_bytes,
        language: body.language?.toLowerCase() ?? null,
        metadata,
      });
      return created(createUploadUrl(call, asset), await showAsset(call, asset), {
        "Upload-Expires": new Date(getUploadExpiry(asset)).toUTCString(),
        "Tus-Resumable": "1.0.0",
      });
    });
  },
});

export const list = listRoute({
  summary: "List assets, newest first",
  filters: {
    project_id: Type.Optional(uuidField("Only assets of this project")),
    state: Type.Optional(state),
  },
  item: "Asset",
  description: "A page of asset summaries",
  read: ({ services, principal }, { filters, after, limit }) =>
    listAssets(services.store.read, principal.workspace.id, {
      projectId: filters.project_id ?? null,
      state: filters.state ?? null,
      uploads: getUploadCutoff(services.now()),
      afterId: after?.[0] ?? null,
      limit,
    }),
  show: showAsset,
});

export const read = route({
  summary: "Retrieve an asset, with a new download link if it is ready",
  responses: { 200: respondsWith("AssetDetail", "The asset") },
  load: assetLoader,
  handle: async (call, { resource }) => ok(await showAssetDetail(call, resource)),
});

export const remove = route({
  summary: "Delete an asset with its cuts, renders and files",
  // It also cancels an upload to a signed link.
  access: UPLOAD_ACCESS,
  errors: ["upstream_unavailable"],
  responses: { 204: respondsWithNothing("Deleted") },
  load: assetLoader,
  handle: ({ services }, { resource }) => removeAsset(services, resource.id),
});
