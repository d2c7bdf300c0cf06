/** A call of a route, and the replies that a handler returns. */
import type { Log } from "../lib/log";
import type { ZipOutput } from "../lib/zip-writer";
import type { Queries } from "../store/db";
import { findUserById, formatUserName, type User } from "../store/users";
import type { Principal } from "../work/access/access";
import { type IdempotencyKey, withIdempotencyKey } from "../work/idempotency";
import type { Services } from "../work/services";
import type { AuthenticationOptions } from "./authentication";
import type { RequestClient } from "./client";
import { FILE_POLICY } from "./security-headers";

/** Returns the current principal of a call. Errors: those of the authentication and of `enterWorkspace`. */
export type Reauthorize = (options?: AuthenticationOptions) => Promise<Principal>;

/** A call of a route without authentication. */
export type OpenCall = {
  services: Services;
  request: Request;
  requestId: string;
  log: Log;
  client: RequestClient;
  /** Path parameters: UUIDs in lower case. */
  params: Record<string, string>;
  reauthorize: Reauthorize;
  /** Returns the path of `path` in the family that serves this call: `/v1/cuts/…` for `/cuts/…`. */
  url(path: string): string;
};

export type Call = OpenCall & {
  principal: Principal;
  /** Returns the creator of a resource as a field, if the family shows it. */
  authorship: ReadAuthorship;
  /** Null if the route does not use idempotency keys or the client sent none. */
  idempotency: IdempotencyKey;
};

/** `text`, `stream` or `file` instead of `body`: content with the type in `headers`. */
export type Reply = {
  status: number;
  body?: unknown;
  text?: string;
  stream?: ReadableStream<Uint8Array>;
  file?: Blob | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  /** `Set-Cookie` headers. */
  cookies?: string[];
};

const JSON_TYPE = "application/json; charset=utf-8";

export const ok = (body: unknown): Reply => ({ status: 200, body });
export const created = (location: string, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status: 201,
  body,
  headers: { Location: location, ...headers },
});
/** Returns a 200 reply with a resource that is already JSON text. */
export const okJsonText = (text: string): Reply => ({ status: 200, text, headers: { "Content-Type": JSON_TYPE } });
type DownloadedFile = { filename: string; contentType: string };

const createDownloadHeaders = ({ filename, contentType }: DownloadedFile): Record<string, string> => ({
  "Content-Type": contentType,
  "Content-Disposition": formatAttachment(filename),
  "Content-Security-Policy": FILE_POLICY,
});

/** Returns a 200 reply with a file to download, whose body is text or base64. */
export const fileDownload = (file: DownloadedFile & { body: string; isBase64?: boolean }): Reply => ({
  status: 200,
  ...(file.isBase64 ? { file: Uint8Array.fromBase64(file.body) } : { text: file.body }),
  headers: createDownloadHeaders(file),
});
/** Returns a 200 reply with a text file of any length. Its parts are read as the client receives them. */
export const streamedDownload = (file: DownloadedFile & { parts: AsyncIterator<string> }): Reply => ({
  status: 200,
  stream: new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await file.parts.next();
      if (done) controller.close();
      else controller.enqueue(new TextEncoder().encode(value));
    },
  }),
  headers: createDownloadHeaders(file),
});
/**
 * Returns a 200 reply with an archive that `write` creates as the client receives it. `signal` is aborted when the
 * client leaves and when `stopped` is; the response of an archive that fails ends without its directory.
 */
export function zipDownload(
  filename: string,
  stopped: AbortSignal,
  write: (output: ZipOutput, signal: AbortSignal) => Promise<void>,
): Reply {
  // Aborting the writer would wait for a write that a client who does not read holds up. An error of the stream ends
  // it.
  let fail: (reason: unknown) => void = () => {};
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(
    {
      start: (controller) => {
        fail = (reason) => controller.error(reason);
      },
    },
    { highWaterMark: 1 },
  );
  const writer = writable.getWriter();
  const gone = new AbortController();
  writer.closed.catch((reason) => gone.abort(reason));
  const stop = () => {
    gone.abort(stopped.reason);
    fail(stopped.reason);
  };
  stopped.addEventListener("abort", stop);
  const output: ZipOutput = { write: (bytes) => writer.write(bytes.slice()), patch: null };
  write(output, gone.signal)
    .then(() => writer.close())
    .catch((error) => fail(error))
    .finally(() => stopped.removeEventListener("abort", stop));
  return {
    status: 200,
    stream: readable,
    headers: createDownloadHeaders({ filename, contentType: "application/zip" }),
  };
}
export const accepted = (): Reply => ({ status: 202 });
export const noContent = (): Reply => ({ status: 204 });

/**
 * Runs `create` in a write transaction, only once per `Idempotency-Key` of the user: a repeated call gets the stored
 * reply. Throws `AppError` `validation_error` if the key was used for another request.
 */
export function createOnce(call: Call, create: (tx: Queries) => Promise<Reply>): Promise<Reply> {
  const { services, idempotency } = call;
  return services.store.write((tx) =>
    withIdempotencyKey(tx, idempotency, services.now(), async () => {
      const { status, body, headers = {} } = await create(tx);
      return { status, body, headers };
    }),
  );
}

/** The lengths of the files that `toResponseTo` omitted. */
const omittedLengths = new WeakMap<Request, number>();

/**
 * Converts a reply to the response to a request. A reply to HEAD loses its file or stream: Elysia would read it to its
 * end to count its bytes, which takes as long as a download and costs the client nothing. `restoreLength` has to
 * follow.
 */
export function toResponseTo(request: Request, reply: Reply): Response {
  const { file, stream, ...head } = reply;
  if (request.method !== "HEAD" || (file === undefined && stream === undefined)) return toResponse(reply);
  void stream?.cancel();
  if (file !== undefined) omittedLengths.set(request, file instanceof Blob ? file.size : file.byteLength);
  return toResponse(head);
}

/** Corrects the length in the response to a HEAD request whose file was omitted. */
export function restoreLength(request: Request, { headers }: Response): void {
  const length = omittedLengths.get(request);
  if (length !== undefined) headers.set("Content-Length", String(length));
}

/**
 * Converts a reply to a response. Caches must not store it unless the reply has its own `cache-control`, because it is
 * for one user and may contain signed links.
 */
export function toResponse(reply: Reply): Response {
  const headers = new Headers(reply.headers);
  for (const cookie of reply.cookies ?? []) headers.append("Set-Cookie", cookie);
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  const { status, stream, file, text, body } = reply;
  const content = stream ?? file ?? text;
  if (content !== undefined || body === undefined) return new Response(content, { status, headers });
  headers.set("Content-Type", JSON_TYPE);
  return new Response(JSON.stringify(body), { status, headers });
}

export function withHeaders(response: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

/** Formats `Content-Disposition` (RFC 6266): an ASCII name for old clients, and the real name in UTF-8. */
export function formatAttachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*!]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

export const isReadMethod = (method: string): boolean => method === "GET" || method === "HEAD";

/** The field, or nothing in a family that does not show it. `created_by` is null if the account was deleted. */
export type Authorship = { created_by?: { id: string; name: string | null } | null };

/** Returns the field for the creator of a resource; null if that account was deleted. */
export type ReadAuthorship = (userId: string | null) => Promise<Authorship>;

export const hideAuthors: ReadAuthorship = async () => ({});

/** Creates the reader of a call. The caller, and users that were already read, are not read again. */
export function createAuthorReader(db: Queries, caller: User): ReadAuthorship {
  const show = (user: User | null): Authorship => ({
    created_by: user && { id: user.id, name: formatUserName(user) },
  });
  const known = new Map([[caller.id, Promise.resolve(show(caller))]]);
  return (userId) => {
    if (userId === null) return Promise.resolve(show(null));
    const found = known.get(userId) ?? findUserById(db, userId).then(show);
    known.set(userId, found);
    return found;
  };
}
