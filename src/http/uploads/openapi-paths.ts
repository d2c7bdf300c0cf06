/** The paths of uploads in the OpenAPI documents: they are no routes, because their bodies are not JSON. */
import { HTTP_STATUS, type HttpCode } from "../../domain/errors";
import type { Family } from "../family";
import { type JsonObject, schemaRef } from "../openapi-parts";
import { SIGNED_PUT_PATH } from "./signed-put";

const createTusHeaders = (...names: string[]): JsonObject[] =>
  names.map((name) => ({ name, in: "header", required: true, schema: { type: "string" } }));

const createTusErrors = (...codes: HttpCode[]): JsonObject =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => HTTP_STATUS[code])].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\``).join(", "),
        content: { "application/json": { schema: schemaRef("Error") } },
      },
    ]),
  );

/** Returns the paths of the uploads that the family takes. */
export const createUploadPaths = ({
  prefix,
  hasUploads,
  hasSignedUploads,
}: Pick<Family, "prefix" | "hasUploads" | "hasSignedUploads">): Record<string, JsonObject> => ({
  ...(hasUploads ? createTusPaths(prefix) : {}),
  ...(hasSignedUploads ? createSignedPaths(prefix) : {}),
});

function createSignedPaths(prefix: string): Record<string, JsonObject> {
  const inQuery = (name: string, schema: JsonObject) => ({ name, in: "query", required: true, schema });
  return {
    [`${prefix}${SIGNED_PUT_PATH.replace(/:(\w+)/, "{$1}")}`]: {
      put: {
        operationId: "putUploadFile",
        summary: "Send a file to the signed link of POST assets/upload-url",
        tags: ["uploads"],
        security: [],
        parameters: [
          { name: "upload_id", in: "path", required: true, schema: { type: "string", format: "uuid" } },
          inQuery("expires", { type: "integer" }),
          inQuery("signature", { type: "string" }),
        ],
        requestBody: { required: true, content: { "*/*": { schema: { type: "string", format: "binary" } } } },
        responses: {
          204: { description: "The file has arrived, and its preparation has started" },
          ...createTusErrors(
            "bad_request",
            "forbidden",
            "not_found",
            "conflict",
            "payload_too_large",
            "upstream_unavailable",
          ),
        },
      },
    },
  };
}

/** Documents the TUS 1.0.0 surface with the protocol's headers. */
function createTusPaths(prefix: string): Record<string, JsonObject> {
  const id = { name: "upload_id", in: "path", required: true, schema: { type: "string", format: "uuid" } };
  const offsets = {
    "Upload-Offset": { schema: { type: "integer" } },
    "Upload-Expires": { schema: { type: "string" } },
  };
  return {
    [`${prefix}/uploads/{upload_id}`]: {
      options: {
        operationId: "optionsUpload",
        summary: "Read the limits and extensions of the upload protocol",
        tags: ["uploads"],
        security: [],
        parameters: [id],
        responses: { 204: { description: "Tus-Version, Tus-Extension, Tus-Max-Size" } },
      },
      head: {
        operationId: "headUpload",
        summary: "Read the offset of an upload",
        tags: ["uploads"],
        parameters: [id, ...createTusHeaders("Tus-Resumable")],
        responses: {
          200: {
            description: "The offset of the next PATCH",
            headers: {
              ...offsets,
              "Upload-Length": { schema: { type: "integer" } },
              "Upload-Defer-Length": {
                description: "1 in place of Upload-Length while the length is not known",
                schema: { type: "integer" },
              },
            },
          },
          ...createTusErrors(
            "bad_request",
            "unauthenticated",
            "not_found",
            "precondition_failed",
            "rate_limited",
            "upstream_error",
            "upstream_unavailable",
          ),
        },
      },
      patch: {
        operationId: "patchUpload",
        summary: "Append bytes at the offset",
        tags: ["uploads"],
        parameters: [
          id,
          ...createTusHeaders("Tus-Resumable", "Upload-Offset"),
          {
            name: "Upload-Length",
            in: "header",
            required: false,
            description: "With the first bytes of an upload that was created without its length",
            schema: { type: "integer" },
          },
        ],
        requestBody: {
          required: true,
          content: { "application/offset+octet-stream": { schema: { type: "string", format: "binary" } } },
        },
        responses: {
          204: { description: "The bytes were stored", headers: offsets },
          ...createTusErrors(
            "bad_request",
            "unauthenticated",
            "not_found",
            "conflict",
            "precondition_failed",
            "payload_too_large",
            "unsupported_media_type",
            "upstream_unavailable",
          ),
        },
      },
      delete: {
        operationId: "deleteUpload",
        summary: "Cancel an upload and remove its asset",
        tags: ["uploads"],
        parameters: [id, ...createTusHeaders("Tus-Resumable")],
        responses: {
          204: { description: "Cancelled, or there was nothing to cancel" },
          ...createTusErrors("unauthenticated", "precondition_failed"),
        },
      },
    },
  };
}
