/** Reads and writes the objects of an S3 bucket below a prefix, with time limits and retries. */

import { AppError, badRequest } from "../domain/errors";
import { formatOffsiteUrl, type OffsiteLocation } from "../domain/offsite";
import { escapeControls } from "../lib/control-characters";
import { sleep } from "../lib/sleep";

/** An object. `key` is relative to the prefix. `etag` is the MD5, unless the bucket encrypts with its own keys. */
export type BucketObject = { key: string; bytes: number; etag: string; modified_at: number };

export type BucketTiming = { requestMs: number; idleMs: number; delayMs: number; attempts: number };

/** A blob of 8 MiB at 30 KB/s takes less than the time limit of a request. */
const TIMING: BucketTiming = { requestMs: 300_000, idleMs: 60_000, delayMs: 1000, attempts: 6 };
/** Larger than every object, so that each one is sent in a single request. */
const MAX_PUT_BYTES = 1024 ** 3;
/** 5 million objects, 20 TB of blobs. A bucket with an endless list is rejected. */
const MAX_PAGES = 5000;
const MAX_REASON_CHARACTERS = 200;

/** Responses that another attempt would not change. */
const REFUSALS: Record<string, string> = {
  AccessDenied: "access is denied. The access key needs to list, read, write and delete objects",
  AllAccessDisabled: "access is disabled",
  AccountProblem: "the account has a problem",
  AuthorizationHeaderMalformed: "the region is wrong. Check AWS_REGION",
  ExpiredToken: "the session token has expired. Check AWS_SESSION_TOKEN",
  InvalidAccessKeyId: "the access key is unknown. Check AWS_ACCESS_KEY_ID",
  InvalidBucketName: "the bucket's name is invalid",
  NoSuchBucket: "the bucket does not exist",
  PermanentRedirect: "the bucket is in another region. Check AWS_REGION and AWS_ENDPOINT_URL",
  QuotaExceeded: "the quota of the bucket is used up",
  RequestTimeTooSkewed: "the clock of this machine differs from that of the bucket. Correct it",
  SignatureDoesNotMatch: "the secret access key is wrong. Check AWS_SECRET_ACCESS_KEY",
};

/**
 * Opens a bucket. Errors of all calls: `AppError` `upstream_error` if rejected, `upstream_unavailable`; the signal's
 * reason. `env` contains the variables that other S3 tools use: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
 * `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`. Throws `AppError` `bad_request` if the credentials are
 * missing.
 */
export function openBucket(
  location: OffsiteLocation,
  env: Record<string, string | undefined>,
  timing: BucketTiming = TIMING,
) {
  const url = formatOffsiteUrl(location);
  const client = createClient(url, location, env);
  const toKey = (key: string) => location.prefix + key;
  const attempt = <T>(signal: AbortSignal, run: (limit: Limit) => Promise<T>) => retry(url, timing, signal, run);
  return {
    url,
    put: (key: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> =>
      attempt(signal, async (limit) => {
        await limit(client.write(toKey(key), bytes), timing.requestMs);
      }),
    /** Reads an object; null if it does not exist. A larger one is cut off after `maxBytes` + 1 bytes. */
    get: (key: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | null> =>
      attempt(signal, (limit) => readBounded(client.file(toKey(key)).stream(), maxBytes, limit, timing.idleMs)).catch(
        (error) => {
          if (error instanceof AppError && toCode(error.details.cause) === "NoSuchKey") return null;
          throw error;
        },
      ),
    /** Deletes an object. A missing one is not an error. */
    delete: (key: string, signal: AbortSignal): Promise<void> =>
      attempt(signal, async (limit) => void (await limit(client.delete(toKey(key)), timing.idleMs))),
    /** Lists the objects whose keys begin with `start`. */
    list: async function* (start: string, signal: AbortSignal): AsyncGenerator<BucketObject> {
      let position: { continuationToken?: string } = {};
      for (let page = 0; page < MAX_PAGES; page++) {
        const found = await attempt(signal, (limit) =>
          limit(client.list({ prefix: toKey(start), maxKeys: 1000, ...position }), timing.idleMs),
        );
        for (const { key, size = 0, eTag = "", lastModified = "" } of found.contents ?? [])
          if (key.startsWith(toKey(start)))
            yield {
              key: key.slice(location.prefix.length),
              bytes: size,
              etag: eTag.replaceAll('"', ""),
              modified_at: Date.parse(lastModified),
            };
        const next = found.isTruncated ? found.nextContinuationToken : undefined;
        if (next === undefined) return;
        if (next === position.continuationToken) break;
        position = { continuationToken: next };
      }
      throw new AppError("upstream_error", `${url}: the list of objects does not end.`);
    },
  };
}

export type Bucket = ReturnType<typeof openBucket>;

function createClient(url: string, { bucket }: OffsiteLocation, env: Record<string, string | undefined>) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey)
    throw badRequest(`${url} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment of the server.`);
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION;
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL;
  return new Bun.S3Client({
    accessKeyId,
    secretAccessKey,
    bucket,
    partSize: MAX_PUT_BYTES,
    ...(env.AWS_SESSION_TOKEN ? { sessionToken: env.AWS_SESSION_TOKEN } : {}),
    ...(endpoint ? { endpoint, region: region || "us-east-1" } : { region: region || "us-east-1" }),
  });
}

/** Waits for a call of the client, which cannot be aborted, until the time limit or the signal ends the wait. */
type Limit = <T>(call: Promise<T>, milliseconds: number) => Promise<T>;

class TimeLimitError extends Error {}

function createLimit(signal: AbortSignal): Limit {
  return async (call, milliseconds) => {
    const ended = new AbortController();
    // Otherwise a call that fails after its limit would be an unhandled rejection.
    call.catch(() => {});
    const over = sleep(milliseconds, AbortSignal.any([signal, ended.signal])).then(() => {
      throw new TimeLimitError(`no response within ${Math.round(milliseconds / 1000)} s`);
    });
    over.catch(() => {});
    try {
      return await Promise.race([call, over]);
    } finally {
      ended.abort();
    }
  };
}

async function retry<T>(
  url: string,
  { attempts, delayMs }: BucketTiming,
  signal: AbortSignal,
  run: (limit: Limit) => Promise<T>,
): Promise<T> {
  const limit = createLimit(signal);
  for (let attempt = 1; ; attempt++) {
    try {
      signal.throwIfAborted();
      return await run(limit);
    } catch (error) {
      signal.throwIfAborted();
      const code = toCode(error);
      const refusal = REFUSALS[code];
      if (refusal !== undefined)
        throw new AppError("upstream_error", `${url}: ${refusal} (${code}).`, { cause: error });
      if (code === "NoSuchKey") throw new AppError("not_found", `${url}: object not found.`, { cause: error });
      if (attempt === attempts)
        throw new AppError("upstream_unavailable", `${url} failed ${attempts} times: ${describe(error)}.`, {
          cause: error,
        });
      // Randomized, so that rejected servers do not all retry at the same time.
      await sleep(delayMs * 2 ** (attempt - 1) * (0.5 + Math.random()), signal);
    }
  }
}

const toCode = (error: unknown): string => String((error as { code?: unknown } | undefined)?.code ?? "");

/** Formats a client error on one line, because its message may come from an untrusted source. */
function describe(error: unknown): string {
  if (error instanceof TimeLimitError) return error.message;
  const message = String((error as Error).message ?? error).slice(0, MAX_REASON_CHARACTERS);
  const text = message === "an unexpected error has occurred" ? "no valid response" : escapeControls(message);
  return `${text.replace(/\.$/, "")} (${escapeControls(toCode(error).slice(0, MAX_REASON_CHARACTERS))})`;
}

async function readBounded(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  limit: Limit,
  idleMs: number,
): Promise<Uint8Array> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (bytes <= maxBytes) {
      const { done, value } = await limit(reader.read(), idleMs);
      if (done) break;
      chunks.push(value);
      bytes += value.length;
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
  const joined = Buffer.concat(chunks);
  return joined.length > maxBytes ? joined.subarray(0, maxBytes + 1) : joined;
}
