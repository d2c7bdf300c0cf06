/**
 * A worker's requests to the head: time limits, errors, and retries with backoff. Redirects are not followed, so that a
 * token is sent only to the head.
 */
import { sleep } from "../lib/sleep";

/** Thrown when the head rejected a request. `names` are the files that its response names. */
export class HeadError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly names: string[] = [],
  ) {
    super(message);
    this.name = "HeadError";
  }
}

/** Thrown when the head did not respond: no connection, no complete response in time, or a temporary error status. */
export class HeadUnreachableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "HeadUnreachableError";
  }
}

/** `url` is the head's address without a path. `ca`: PEM text of a certificate authority; null uses the system's. */
export type HeadAddress = { url: string; token: string; ca: string | null };

export type WorkerRequest = {
  method: "GET" | "HEAD" | "POST" | "PATCH";
  /** Path and query. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Blob;
  signal: AbortSignal;
  /** Covers the whole exchange, including the response's body. */
  timeoutMs: number;
};

export type SendRequest = (request: WorkerRequest) => Promise<Response>;

/** Statuses of a head that is starting or overloaded, or behind a proxy that cannot reach it. */
const TEMPORARY_STATUSES = [408, 425, 429, 500, 502, 503, 504];
const MAX_ERROR_CHARACTERS = 16_384;
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 2_000;

/** Returns the function that sends requests. Errors: `HeadError`; `HeadUnreachableError`; the signal's reason. */
export function createSender({ url, ca }: Pick<HeadAddress, "url" | "ca">): SendRequest {
  const tls = ca === null ? undefined : { ca };
  return async ({ method, path, headers = {}, body, signal, timeoutMs }) => {
    signal.throwIfAborted();
    let response: Response;
    try {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const init: BunFetchRequestInit = { method, headers, redirect: "manual", signal: limited };
      if (body !== undefined) init.body = body;
      if (tls !== undefined) init.tls = tls;
      response = await fetch(`${url}${path}`, init);
    } catch (error) {
      signal.throwIfAborted();
      throw toUnreachable(error, url);
    }
    if (response.ok) return response;
    throw await readError(response, signal);
  };
}

/** Advice by the error code of a connection. */
const ADVICE: Record<string, string> = {
  EPROTO: "Nothing speaks TLS at this address: if the head does not, head starts with http://.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The certificate is for another name than that of head.",
  CERT_HAS_EXPIRED: "The certificate of the head has expired, or the clock of this machine is wrong.",
  CERT_NOT_YET_VALID: "The certificate of the head is not valid yet, or the clock of this machine is wrong.",
  ECONNREFUSED: "Nothing listens at this address: check head, and that the server runs.",
  ENOTFOUND: "No address is known for this name: check head.",
};
const UNTRUSTED_CODES = [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

function findAdvice(code: string, url: string): string | undefined {
  if (UNTRUSTED_CODES.includes(code))
    return "This machine does not trust the certificate: set ca to the PEM file of its certificate authority.";
  if (code === "ECONNRESET" && url.startsWith("http:")) return "If the head uses TLS, head starts with https://.";
  return ADVICE[code];
}

/** Converts a connection error. Its message may contain an address with a signature. `url` is used for advice. */
export function toUnreachable(error: unknown, url = ""): HeadUnreachableError {
  if (error instanceof HeadUnreachableError) return error;
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError") return new HeadUnreachableError("The head did not respond in time.");
  const reason = typeof code === "string" ? code : "closed";
  const advice = findAdvice(reason, url);
  return new HeadUnreachableError(
    `Connection to the head failed: ${reason}.${advice === undefined ? "" : ` ${advice}`}`,
  );
}

async function readError(response: Response, signal: AbortSignal): Promise<HeadError | HeadUnreachableError> {
  const text = await response.text().catch((error) => {
    signal.throwIfAborted();
    throw toUnreachable(error);
  });
  if (TEMPORARY_STATUSES.includes(response.status))
    return new HeadUnreachableError(`The head responded with status ${response.status}.`);
  const { code, message, names } = parseError(text.slice(0, MAX_ERROR_CHARACTERS));
  return new HeadError(response.status, code, message ?? describeStatus(response.status), names);
}

/** Redirects are not followed, because the token would be sent to another address. */
const describeStatus = (status: number): string =>
  status >= 300 && status < 400
    ? `The address redirects (status ${status}): set head to the target address.`
    : `The head rejected the request with status ${status}.`;

/** Describes an error of a call that uses the join token. */
export function describeHeadError(error: unknown): string {
  if (error instanceof HeadError && error.status === 401)
    return "The head does not accept the token: it was revoked or is incomplete. Create another one on the head with offcut worker token create.";
  return error instanceof Error ? error.message : String(error);
}

/** Parses `{ error: { code, message, fields } }`. File names are the `field` or `path` of the fields, or `files`. */
function parseError(text: string): { code: string; message: string | null; names: string[] } {
  try {
    const parsed: unknown = JSON.parse(text);
    const { error = parsed, files } = parsed as { error?: unknown; files?: unknown };
    const { code, message, fields } = (error ?? {}) as { code?: unknown; message?: unknown; fields?: unknown };
    const named = Array.isArray(fields) ? fields.map((field) => (field as { field?: unknown } | null)?.field) : files;
    return {
      code: typeof code === "string" ? code : "",
      message: typeof message === "string" ? message : null,
      names: Array.isArray(named) ? named.filter((name) => typeof name === "string") : [],
    };
  } catch {
    return { code: "", message: null, names: [] };
  }
}

/** Repeats `attempt` while the head is unreachable. Errors: other errors of `attempt`; the signal's reason. */
export async function withRetries<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof HeadUnreachableError)) throw error;
      await waitBeforeRetry(failures, signal);
    }
  }
}

/** Waits longer after each failure, with a random part. Throws the signal's reason if aborted. */
export async function waitBeforeRetry(failures: number, signal: AbortSignal): Promise<void> {
  const delay = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** Math.min(failures, 10));
  await sleep(delay * (0.5 + Math.random() / 2), signal);
}
