/**
 * Routes as data. A resource's file says what each call takes and does; a family mounts it with its own authentication and error shape.
 * The order of checks is the contract's: authentication, rate, existence of the path's resource, body shape, state, credits.
 */
import type { Static, TObject } from "@sinclair/typebox";
import { AppError, type HttpCode } from "../domain/errors";
import { sha256 } from "../lib/ids";
import type { Call, Reply } from "./call";
import {
  MAX_BODY_BYTES,
  parseBody,
  parsePathIds,
  parseQuery,
  readBodyText,
  runLargeTasksSerially,
} from "./parse-request";
import type { ResponseDoc } from "./response-docs";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** A mounted call: all that a family needs to know of it. */
export type Route = {
  method: Method;
  /** Below the family's prefix, parameters as `:name`. */
  path: string;
  summary: string;
  query?: TObject;
  body?: TObject;
  /** The largest body that the call takes. */
  maxBodyBytes: number;
  idempotent: boolean;
  /** What the documentation says: answers by status, the codes of this call's own errors, a body to try it with. */
  responses: Record<number, ResponseDoc>;
  errors: HttpCode[];
  example?: unknown;
  headers: Record<string, string>;
  /** Runs the call once the caller is known and within the rate. */
  run(call: Omit<Call, "params" | "idempotency">, params: Record<string, string>): Promise<Reply>;
};

type RouteInput<Q extends TObject | undefined, B extends TObject | undefined, R> = {
  query: Q extends TObject ? Static<Q> : undefined;
  body: B extends TObject ? Static<B> : undefined;
  resource: R;
};

type RouteDefinition<Q extends TObject | undefined, B extends TObject | undefined, R> = {
  method: Method;
  path: string;
  summary: string;
  query?: Q;
  body?: B;
  /** A missing body counts as `{}`. */
  bodyOptional?: boolean;
  /** The largest body, in bytes; `MAX_BODY_BYTES` when left out. */
  maxBodyBytes?: number;
  /** The call honours `Idempotency-Key` (through `call.idempotency`). */
  idempotent?: boolean;
  responses: Record<number, ResponseDoc>;
  /** Codes besides those that any call of its kind may answer. */
  errors?: HttpCode[];
  example?: unknown;
  /** Request headers of this call's own, with what the documentation says of them. */
  headers?: Record<string, string>;
  /** Finds the resource that the path names; null is a 404. */
  load?(call: Call): Promise<R | null>;
  handle(call: Call, input: RouteInput<Q, B, R>): Promise<Reply>;
};

/** Makes a route of its definition. */
export function route<
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
  R = undefined,
>(definition: RouteDefinition<Q, B, R>): Route {
  const { method, path, summary, query, body, responses, example } = definition;
  const { errors = [], headers = {}, idempotent = false, maxBodyBytes = MAX_BODY_BYTES } = definition;
  return {
    method,
    path,
    summary,
    query,
    body,
    responses,
    errors,
    example,
    headers,
    maxBodyBytes,
    idempotent,
    run: async (caller, params) => {
      const call: Call = { ...caller, params: parsePathIds(params), idempotency: null };
      const resource = definition.load ? await definition.load(call) : undefined;
      if (resource === null) throw new AppError("not_found", "There is no such resource.");
      const parsedQuery = query ? parseQuery(query, new URL(call.request.url)) : undefined;
      const timeoutMs = call.services.config.requestTimeoutSeconds * 1000;
      const text = body ? await readBodyText(call.request, { maxBytes: maxBodyBytes, timeoutMs }) : "";
      const parsedBody = body
        ? await runLargeTasksSerially(text, () => parseBody(body, text, definition.bodyOptional))
        : undefined;
      if (idempotent) call.idempotency = readIdempotencyKey(call, text);
      return definition.handle(call, { query: parsedQuery, body: parsedBody, resource } as RouteInput<Q, B, R>);
    },
  };
}

const MAX_KEY_CHARACTERS = 255;

function readIdempotencyKey(call: Call, body: string): Call["idempotency"] {
  const key = call.request.headers.get("idempotency-key");
  if (!key) return null;
  if (key.length > MAX_KEY_CHARACTERS)
    throw new AppError("bad_request", `Idempotency-Key must have at most ${MAX_KEY_CHARACTERS} characters.`);
  const { pathname } = new URL(call.request.url);
  return { userId: call.user.id, key, requestHash: sha256(`${call.request.method}\0${pathname}\0${body}`) };
}
