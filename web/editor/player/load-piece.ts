/** Loads pieces of the preview or source, retrying for as long as necessary. */
import { toApiError } from "../../app/api";
import { reportAnswer, reportNoAnswer } from "../../app/connection";
import { endSession } from "../../app/session";

/** Why a piece is delayed: the server is still creating the preview, or it does not respond. */
export type Delay = "preparing" | "offline";

/** A part of a piece that has one MIME type. */
export type Section = { type: string; bytes: ArrayBuffer };

const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 8_000;

/** Statuses of a server that is busy or restarting. */
const BUSY = [408, 425, 429, 500, 502, 503, 504];

/**
 * Returns the sections of a piece; none if the track has no data there. Retries while the preview is being created and
 * while the server does not respond, and reports both. Throws `ApiError` if retrying cannot help, and the signal's
 * reason.
 */
export async function loadPiece(
  url: string,
  signal: AbortSignal,
  onDelay: (delay: Delay | null) => void,
): Promise<Section[]> {
  for (let attempt = 0; ; attempt++) {
    const answer = await readPiece(url, signal);
    if (answer.kind === "loaded") {
      onDelay(null);
      return answer.sections;
    }
    onDelay(answer.delay);
    await sleep(answer.retryAfterMs ?? Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** attempt), signal);
  }
}

/** The result of one request for a piece. */
export type PieceAttempt =
  | { kind: "loaded"; sections: Section[] }
  | { kind: "delayed"; delay: Delay; retryAfterMs: number | null };

/** Requests a piece once. Throws the same errors as `loadPiece`. */
export async function readPiece(url: string, signal: AbortSignal): Promise<PieceAttempt> {
  const response = await fetch(url, { signal, credentials: "same-origin" }).catch(() => null);
  signal.throwIfAborted();
  if (response === null) {
    reportNoAnswer();
    return { kind: "delayed", delay: "offline", retryAfterMs: null };
  }
  reportAnswer();
  if (response.ok) {
    const bytes = await response.arrayBuffer().catch(() => null);
    signal.throwIfAborted();
    if (bytes === null) return { kind: "delayed", delay: "offline", retryAfterMs: null };
    return { kind: "loaded", sections: splitSections(bytes, response.headers.get("piece-sections") ?? "") };
  }
  const body: unknown = await response.json().catch(() => null);
  const error = toApiError(response, body);
  if (response.status === 401) endSession();
  const retryAfterMs = error.retryAfterSeconds === null ? null : Math.min(MAX_RETRY_MS, 1000 * error.retryAfterSeconds);
  if (response.status === 409) return { kind: "delayed", delay: "preparing", retryAfterMs };
  if (BUSY.includes(response.status)) return { kind: "delayed", delay: "offline", retryAfterMs };
  throw error;
}

/** Splits a piece at the lengths in the header: `BYTES TYPE`, separated by commas. */
function splitSections(bytes: ArrayBuffer, header: string): Section[] {
  const sections: Section[] = [];
  let at = 0;
  for (const entry of header.split(", ")) {
    const space = entry.indexOf(" ");
    const end = at + Number(entry.slice(0, space));
    if (end > at) sections.push({ type: entry.slice(space + 1), bytes: bytes.slice(at, end) });
    at = end;
  }
  return sections;
}

/** Also resolves when the network is back. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}
