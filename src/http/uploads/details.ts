/** The `detail` of the routes of uploads, whose bodies are not JSON: their operations in the OpenAPI documents. */
import type { HttpCode } from "../../domain/errors";
import { describeErrors, describeParameter, type JsonObject } from "../response-docs";
import type { UploadMethod } from ".";

const integer = { schema: { type: "integer" } };
const isRequired = { required: true };
const uploadId = describeParameter("path", "upload_id", { schema: { type: "string", format: "uuid" } });
const tusVersion = describeParameter("header", "Tus-Resumable", isRequired);
const offsets = { "Upload-Offset": integer, "Upload-Expires": { schema: { type: "string" } } };

const describeUpload = (
  operationId: string,
  summary: string,
  parameters: JsonObject[],
  responses: JsonObject,
  { security, requestBody }: { security?: object[]; requestBody?: JsonObject } = {},
): JsonObject => ({
  operationId,
  summary,
  tags: ["uploads"],
  security,
  parameters: [uploadId, ...parameters],
  requestBody,
  responses,
});

/** Operations without authentication. */
const OPEN = { security: [] };

const describeDiscovery = (operationId: string): JsonObject => ({
  operationId,
  summary: "Read the limits and extensions of the upload protocol",
  tags: ["uploads"],
  ...OPEN,
  responses: { 204: { description: "Tus-Version, Tus-Extension, Tus-Max-Size" } },
});

/** The OPTIONS of the path at which TUS clients create uploads. */
export const CREATION_DETAIL = describeDiscovery("optionsResumable");

const describeFile = (contentType: string) => ({
  requestBody: { required: true, content: { [contentType]: { schema: { type: "string", format: "binary" } } } },
});

const TUS_ERRORS: HttpCode[] = ["unauthenticated", "precondition_failed"];
const READ_ERRORS: HttpCode[] = ["bad_request", "not_found", "rate_limited", "upstream_error", "upstream_unavailable"];
const WRITE_ERRORS: HttpCode[] = ["bad_request", "not_found", "conflict", "payload_too_large", "upstream_unavailable"];

export const SIGNED_PUT_DETAIL = describeUpload(
  "putUploadFile",
  "Send a file to the signed link of POST assets/upload-url",
  [
    describeParameter("query", "expires", { ...isRequired, ...integer }),
    describeParameter("query", "signature", isRequired),
  ],
  {
    204: { description: "The file has arrived, and its preparation has started" },
    ...describeErrors([...WRITE_ERRORS, "forbidden"]),
  },
  { ...OPEN, ...describeFile("*/*") },
);

/** The TUS 1.0.0 surface, with the headers of the protocol. */
export const TUS_DETAILS: Record<"OPTIONS" | UploadMethod, JsonObject> = {
  OPTIONS: { ...describeDiscovery("optionsUpload"), parameters: [uploadId] },
  HEAD: describeUpload("headUpload", "Read the offset of an upload", [tusVersion], {
    200: {
      description: "The offset of the next PATCH",
      headers: {
        ...offsets,
        "Upload-Length": integer,
        "Upload-Defer-Length": { description: "1 in place of Upload-Length while the length is unknown", ...integer },
      },
    },
    ...describeErrors([...TUS_ERRORS, ...READ_ERRORS]),
  }),
  PATCH: describeUpload(
    "patchUpload",
    "Append bytes at the offset",
    [
      tusVersion,
      describeParameter("header", "Upload-Offset", isRequired),
      describeParameter("header", "Upload-Length", {
        description: "With the first bytes of an upload that was created without its length",
        ...integer,
      }),
    ],
    {
      204: { description: "The bytes were stored", headers: offsets },
      ...describeErrors([...TUS_ERRORS, ...WRITE_ERRORS, "unsupported_media_type"]),
    },
    describeFile("application/offset+octet-stream"),
  ),
  DELETE: describeUpload("deleteUpload", "Cancel an upload and remove its asset", [tusVersion], {
    204: { description: "Cancelled, or there was nothing to cancel" },
    ...describeErrors([...TUS_ERRORS, "upstream_unavailable"]),
  }),
};
