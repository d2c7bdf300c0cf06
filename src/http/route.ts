/**
 * Routes as data. A resource's file defines the handlers, a family's table gives each its method and path, and the family adds
 * authentication, rate limit and error shape. The API contract fixes the order of the checks: authentication, rate limit, existence of the
 * resource in the path, request body, state, credits.
 */
import type { Static, TObject } from "@sinclair/typebox";
import { AppError, type HttpCode } from "../domain/errors";
import { sha256 } from "../lib/hash";
import { findReplay } from "../work/idempotency";
import type { Call, Reply } from "./call";
import { notFound } from "./errors";
import {
  MAX_BODY_BYTES,
  parseBody,
  parsePathIds,
  parseQuery,
  readBodyText,
  runLargeTasksSerially,
} from "./parse-request";
import type { ResponseDoc } from "./response-docs";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What a call does, without its method and path. */
export type RouteHandler = {
  summary: string;
  query: TObject | undefined;
  body: TObject | undefined;
  maxBodyBytes: number;
  /** The handler supports `Idempotency-Key`. */
  idempotent: boolean;
  /** For the OpenAPI document: successful responses by status, error codes that only this call returns, an example body. */
  responses: Record<number, ResponseDoc>;
  errors: HttpCode[];
  example: unknown;
  headers: Record<string, string>;
  /** Runs the call of an authenticated principal within its rate limit. */
  run(call: Omit<Call, "params" | "idempotency">, params: Record<string, string>): Promise<Reply>;
};

/** `path` is relative to the family's prefix, with parameters as `:name`. */
export type Route = RouteHandler & { method: Method; path: string };

/** Builds routes from a table of method, path and handler. */
export const createRoutes = (table: [Method, string, RouteHandler][]): Route[] =>
  table.map(([method, path, handler]) => ({ ...handler, method, path }));

/** Finds the resource that a path names. `name` is for the 404: "Asset". */
export type ResourceLoader<Row> = { name: string; find(call: Call): Promise<Row | null> };

type RouteInput<Q extends TObject | undefined, B extends TObject | undefined, Row> = {
  query: Q extends TObject ? Static<Q> : undefined;
  body: B extends TObject ? Static<B> : undefined;
  resource: Row;
};

type RouteDefinition<Q extends TObject | undefined, B extends TObject | undefined, Row> = {
  summary: string;
  query?: Q;
  body?: B;
  /** Defaults to `MAX_BODY_BYTES`. */
  maxBodyBytes?: number;
  /** The handler supports `Idempotency-Key` (through `createOnce`). */
  idempotent?: boolean;
  responses: Record<number, ResponseDoc>;
  /** Error codes besides those that every route of its kind can return. */
  errors?: HttpCode[];
  example?: unknown;
  /** Descriptions of request headers that only this call has. */
  headers?: Record<string, string>;
  load?: ResourceLoader<Row> | undefined;
  handle(call: Call, input: RouteInput<Q, B, Row>): Promise<Reply>;
};

/** Creates a route handler from its definition. */
export function route<
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
  Row = undefined,
>(definition: RouteDefinition<Q, B, Row>): RouteHandler {
  const { summary, query, body, responses, example, load } = definition;
  const { errors = [], headers = {}, idempotent = false, maxBodyBytes = MAX_BODY_BYTES } = definition;
  return {
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
      const resource = load && (await load.find(call));
      if (load && resource === null) throw notFound(load.name);
      const parsedQuery = query ? parseQuery(query, new URL(call.request.url)) : undefined;
      const timeoutMs = call.services.config.requestTimeoutSeconds * 1000;
      const text = body ? await readBodyText(call.request, { maxBytes: maxBodyBytes, timeoutMs }) : "";
      const parsedBody = body ? await runLargeTasksSerially(text, () => parseBody(body, text)) : undefined;
      if (idempotent) {
        call.idempotency = readIdempotencyKey(call, text);
        // Before the handler: its checks and preparations may have another result by now. `createOnce` looks again in its transaction.
        const replay = await findReplay(call.services.store.read, call.idempotency, call.services.now());
        if (replay) return replay;
      }
      return definition.handle(call, { query: parsedQuery, body: parsedBody, resource } as RouteInput<Q, B, Row>);
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
  return { userId: call.principal.user.id, key, requestHash: sha256(`${call.request.method}\0${pathname}\0${body}`) };
}
