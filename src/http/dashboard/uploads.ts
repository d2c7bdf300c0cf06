/** Creates uploads for the dashboard: a signed link for one PUT, or a resumable upload for TUS clients. */
import { Type } from "@sinclair/typebox";
import { badRequest } from "../../domain/errors";
import {
  oneOf,
  optional,
  orNull,
  strictObject,
  textField,
  uuidField,
  withDescription,
} from "../../domain/schema-parts";
import { ASSET_KINDS, type AssetKind } from "../../domain/states";
import { toActor, UPLOAD_ACCESS } from "../../work/access/access";
import { parseUploadMetadata, parseUploadTarget } from "../../work/uploads/metadata";
import { getPutExpiry } from "../../work/uploads/put";
import { createUpload, getUploadExpiry, readUploadLimits } from "../../work/uploads/uploads";
import { type Call, created, createOnce, ok, type Reply } from "../call";
import { showAsset } from "../public/assets";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";
import { formatTime } from "../schemas";
import {
  createTusErrorHeaders,
  parseCreationLength,
  requireTusVersion,
  TUS_VERSION,
} from "../uploads/protocol-headers";
import { getSignedPutPath } from "../uploads/signed-put";

const UPLOAD_TYPES = ["audio", "video", "rendered_video", "cut_file"] as const;

/** The `type` of a request chooses only the kind: whether a source is audio or video is detected from its bytes. */
const toKind = (type: (typeof UPLOAD_TYPES)[number]): AssetKind =>
  ASSET_KINDS.find((kind) => kind === type) ?? "source";

const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/**
 * Returns the header that a client sends with the file. The type is detected from the bytes, so text that cannot be in
 * a header is replaced with the default.
 */
const toContentType = (text: string | null | undefined): string =>
  text && /^[\x20-\x7e]*$/.test(text) && text.trim() !== "" ? text : DEFAULT_CONTENT_TYPE;

export const readLimits = route({
  summary: "Retrieve the maximum file size and the space left for uploads to the workspace",
  responses: { 200: respondsWith("UploadLimits", "The limits at this moment") },
  handle: async ({ services, principal }) => {
    const { maxBytes, freeBytes } = await readUploadLimits(services, principal.workspace.id);
    return ok({ max_bytes: maxBytes, free_bytes: freeBytes } satisfies Resource<"UploadLimits">);
  },
});

const METADATA = "TUS metadata: pairs of a key and a base64 value";

export const createSigned = route({
  summary: "Create an asset and a signed link that accepts its file in one PUT",
  example: { type: "video", content_type: "video/mp4" },
  errors: ["insufficient_credits", "not_found", "conflict"],
  body: strictObject({
    type: withDescription(
      oneOf(...UPLOAD_TYPES),
      "rendered_video and cut_file are finished files and are not charged. Audio and video are detected from the content",
    ),
    content_type: optional(
      orNull(textField(255)),
      `returned in upload.headers. Default, also for text that is not printable ASCII: ${DEFAULT_CONTENT_TYPE}`,
    ),
    project_id: Type.Optional(orNull(uuidField('Default: the project "Inbox", made on first use'))),
  }),
  access: UPLOAD_ACCESS,
  idempotent: true,
  headers: { "Upload-Metadata": `${METADATA}. \`filename\`, \`external_id\` and \`language\` are stored` },
  responses: { 201: respondsWith("SignedUpload", "The asset, and the request that sends its file") },
  handle: async (call, { body }) => {
    const header = call.request.headers.get("upload-metadata");
    const metadata = parseUploadMetadata(header);
    const { language } = parseUploadTarget(header);
    return createOnce(call, async (tx) => {
      const putUntil = getPutExpiry(call.services.now());
      const asset = await createUpload(call.services, tx, {
        ...toActor(call.principal),
        kind: toKind(body.type),
        putUntil,
        projectId: body.project_id ?? null,
        sizeBytes: null,
        language,
        metadata,
      });
      const upload: Omit<Resource<"SignedUpload">["upload"], "url"> = {
        method: "PUT",
        headers: { "Content-Type": toContentType(body.content_type) },
        expires_at: formatTime(putUntil),
      };
      return created(call.url(`/assets/${asset.id}`), { asset: await showAsset(call, asset), upload });
    });
  },
  // A stored reply must not contain a signed link.
  complete: (call, reply) => {
    const body = reply.body as Omit<Resource<"SignedUpload">, "upload"> & {
      upload: Omit<Resource<"SignedUpload">["upload"], "url">;
    };
    const query = call.services.links.signUpload(body.asset.id, Date.parse(body.upload.expires_at));
    const url = `${call.services.publicUrl()}${call.url(getSignedPutPath(body.asset.id))}?${query}`;
    const completed: Resource<"SignedUpload"> = { ...body, upload: { ...body.upload, url } };
    return { ...reply, body: completed };
  },
});

export const createResumable = route({
  summary: "Create an asset and its resumable upload: the endpoint of a TUS client",
  errors: [
    "bad_request",
    "insufficient_credits",
    "not_found",
    "conflict",
    "precondition_failed",
    "payload_too_large",
    "validation_error",
    "upstream_unavailable",
  ],
  access: UPLOAD_ACCESS,
  idempotent: true,
  headers: {
    "Upload-Length": "Size of the file in bytes. Without it, the first PATCH must have it",
    "Upload-Defer-Length": "1 means that the first PATCH has the length",
    "Upload-Metadata":
      `${METADATA}. \`filename\`, \`external_id\`, \`language\` and \`project_id\` are stored; ` +
      "`type` may be `rendered_video` or `cut_file`, everything else is a source",
    "Tus-Resumable": `${TUS_VERSION}, if sent`,
  },
  errorHeaders: createTusErrorHeaders,
  responses: { 201: respondsWith("ResumableUpload", "The asset, with the transfer URL in `Location`") },
  handle: async (call) => {
    const { headers } = call.request;
    requireTusVersion(headers);
    requireNoBody(call);
    const sizeBytes = parseCreationLength(headers);
    const header = headers.get("upload-metadata");
    const metadata = parseUploadMetadata(header);
    const target = parseUploadTarget(header);
    return createOnce(call, async (tx): Promise<Reply> => {
      const asset = await createUpload(call.services, tx, {
        ...toActor(call.principal),
        ...target,
        putUntil: null,
        sizeBytes,
        metadata,
      });
      const expiry = getUploadExpiry(asset);
      const body: Resource<"ResumableUpload"> = {
        asset: await showAsset(call, asset),
        session_id: asset.id,
        expires_at: formatTime(expiry),
      };
      // Relative, so that the browser stays on the host from which it loaded the dashboard.
      return created(call.url(`/uploads/${asset.id}`), body, {
        "Upload-Expires": new Date(expiry).toUTCString(),
        "Tus-Resumable": TUS_VERSION,
      });
    });
  },
});

/** Throws `AppError` `bad_request` for a body, which a client may expect to be stored. */
function requireNoBody({ request: { headers } }: Call): void {
  if (Number(headers.get("content-length") ?? 0) > 0 || headers.has("transfer-encoding"))
    throw badRequest("Request must have no body. Send the bytes with PATCH to Location.");
}
