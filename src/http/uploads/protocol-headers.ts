/** Headers of TUS 1.0.0 that creation, transfer and errors share. */
import { parseByteCount } from "../../domain/bytes";
import { AppError, badRequest } from "../../domain/errors";

export const TUS_VERSION = "1.0.0";

/** The path at which TUS clients create uploads, in a family that has it. */
export const RESUMABLE_PATH = "/assets/upload-resumable";

/** The media type of a PATCH. */
export const OFFSET_TYPE = "application/offset+octet-stream";

/** Returns the headers that the protocol requires on errors: its version, and with 412 the supported versions. */
export const createTusErrorHeaders = (status: number): Record<string, string> =>
  status === 412 ? { "Tus-Resumable": TUS_VERSION, "Tus-Version": TUS_VERSION } : { "Tus-Resumable": TUS_VERSION };

/** The supported TUS extensions, and those of a family in which uploads are created through the protocol too. */
export const TUS_EXTENSIONS = "termination,expiration";
export const CREATION_EXTENSIONS = `creation,creation-defer-length,${TUS_EXTENSIONS}`;

/** Throws `AppError` `precondition_failed` if the client names another protocol version. It may name none. */
export function requireTusVersion(headers: Headers): void {
  const version = headers.get("tus-resumable");
  if (version !== null && version !== TUS_VERSION)
    throw new AppError("precondition_failed", `Send the header Tus-Resumable: ${TUS_VERSION}.`);
}

/**
 * Returns `Upload-Offset` in bytes; a number larger than any file as the largest safe integer, which matches no
 * upload's offset. Throws `AppError` `bad_request` unless it is a non-negative integer.
 */
export function parseUploadOffset(headers: Headers): number {
  const offset = parseByteCount(headers.get("upload-offset"));
  if (offset !== null) return offset;
  throw badRequest("Send the header Upload-Offset with the offset of the first byte.");
}

/** Returns `Upload-Length` in bytes, or null. Throws `AppError` `validation_error` unless it is a positive integer. */
export function parseUploadLength(headers: Headers): number | null {
  const text = headers.get("upload-length");
  if (text === null) return null;
  const length = parseByteCount(text);
  if (length) return length;
  throw new AppError("validation_error", "Upload-Length must be an integer above 0.", {
    fields: [
      {
        field: "header.Upload-Length",
        message: "must be an integer above 0",
        type: "int_parsing",
        input: text.slice(0, 40),
      },
    ],
  });
}

/**
 * Returns the length that the client declares when it creates an upload, null when it will send it later. Throws
 * `AppError`: `validation_error`, `bad_request` for a contradiction, or for a part of a file.
 */
export function parseCreationLength(headers: Headers): number | null {
  if (headers.has("upload-concat")) throw badRequest("Upload-Concat is not supported: send the file as one upload.");
  const length = parseUploadLength(headers);
  const deferred = headers.get("upload-defer-length");
  if (deferred !== null && deferred !== "1") throw badRequest("Upload-Defer-Length must be 1.");
  if (deferred !== null && length !== null) throw badRequest("Send either Upload-Length or Upload-Defer-Length.");
  return length;
}
