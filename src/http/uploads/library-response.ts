/** Responses of the TUS library as this server sends them. */
import { AppError, type HttpCode } from "../../domain/errors";
import { parseUploadOffset } from "./protocol-headers";

const ERROR_CODES: Record<number, HttpCode> = {
  400: "bad_request",
  404: "not_found",
  409: "conflict",
  410: "not_found",
  412: "precondition_failed",
  413: "payload_too_large",
  415: "unsupported_media_type",
  // A protocol extension that is not supported.
  501: "bad_request",
};

/** The library's message for a PATCH at another offset than that of the upload. */
const OFFSET_CONFLICT = "Upload-Offset conflict";

/** Removes the library's CORS headers: `cors.ts` sets them for the whole server. */
export function removeCorsHeaders(response: Response): Response {
  for (const name of [...response.headers.keys()])
    if (name.startsWith("access-control-")) response.headers.delete(name);
  return response;
}

/** Returns the `AppError` of the library's error response. `findOffset` returns the number of bytes of the upload, null without a file. */
export async function readLibraryError(
  response: Response,
  request: Request,
  findOffset: () => Promise<number | null>,
): Promise<Error> {
  const { status } = response;
  const message = (await response.text()).trim();
  // The client has disconnected. The received bytes are kept, and HEAD returns their number.
  if (request.signal.aborted) {
    return new AppError("bad_request", "Request body ended before Content-Length bytes were received.");
  }
  const code = ERROR_CODES[status];
  if (!code) return new Error(`TUS library responded with ${status}: ${message}`);
  if (status === 413) return new AppError(code, "Request body exceeds the length of the upload.");
  if (message === OFFSET_CONFLICT) {
    const sent = parseUploadOffset(request.headers);
    const offset = (await findOffset()) ?? 0;
    return new AppError(
      code,
      `Upload-Offset is ${sent} but the server has ${offset} bytes: send HEAD and resume from there.`,
    );
  }
  return new AppError(code, message || "Request does not follow TUS 1.0.0.");
}
