/**
 * Routes as data. A resource's file defines the handlers, a family's table gives each its method and path, and the
 * family adds authentication, rate limit and error shape. The API contract fixes the order of the checks:
 * authentication, rate limit, existence of the resource in the path, request body, state, credits.
 */
import type { Static, TObject } from "@sinclair/typebox";
import { AppError, badRequest, type HttpCode, isHttpCode, notFound, requireFound } from "../domain/errors";
import { sha256 } from "../lib/hash";
import { runLargeTasksSerially } from "../lib/large-tasks";
import type { Queries } from "../store/db";
import { DEFAULT_ACCESS, type Principal, type RouteAccess } from "../work/access/access";
import { findReplay } from "../work/idempotency";
import { type Call, noContent, type OpenCall, type Reply } from "./call";
import {
  type BodyType,
  MAX_BODY_BYTES,
  type PathParameter,
  parseBody,
  parseForm,
  parsePath,
  parseQuery,
  readBodyText,
} from "./parse-request";
import type { ResponseDoc } from "./response-docs";

/** Names the workspace that a session acts in. */
export const WORKSPACE_HEADER = "Offcut-Workspace";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A call before its path is parsed. */
type ReceivedCall = Omit<OpenCall, "params"> & Pick<Call, "authorship">;

/** The behavior of a call, without its method and path: its definition with the defaults filled in. */
export type RouteHandler = Required<Omit<OpenRouteDefinition<TObject | undefined, TObject | undefined>, OwnField>> & {
  query: TObject | undefined;
  body: TObject | undefined;
  /** The handler supports `Idempotency-Key`. */
  idempotent: boolean;
  access: RouteAccess;
  /** Runs a call that `access` permits. `principal` is null on a route without authentication. */
  run(call: ReceivedCall, params: Record<string, string>, principal: Principal | null): Promise<Reply>;
};

type OwnField = "query" | "body" | "handle";

/** `path` is relative to the family's prefix, with parameters as `:name`. */
export type Route = RouteHandler & { method: Method; path: string };

/** Builds routes from a table of method, path and handler. `access` replaces parts of the access of all of them. */
export const createRoutes = (table: [Method, string, RouteHandler][], access: Partial<RouteAccess> = {}): Route[] =>
  table.map(([method, path, handler]) => ({ ...handler, access: { ...handler.access, ...access }, method, path }));

/** Finds the resource that a path names. `name` is for the 404: "Asset". */
export type ResourceLoader<Row> = { name: string; find(call: Call): Promise<Row | null> };

export const createLoader = <Row>(
  name: string,
  parameter: string,
  find: (db: Queries, id: string) => Promise<Row | null>,
): ResourceLoader<Row> => ({
  name,
  find: ({ services, params }) => find(services.store.read, params[parameter]!),
});

/** Creates the loader of a resource by its ID in the path, in the workspace of the call. */
export const createOwnLoader = <Row>(
  name: string,
  parameter: string,
  find: (db: Queries, workspaceId: string, id: string) => Promise<Row | null>,
): ResourceLoader<Row> => ({
  name,
  find: ({ services, principal, params }) => find(services.store.read, principal.workspace.id, params[parameter]!),
});

type RouteInput<Q extends TObject | undefined, B extends TObject | undefined, Row> = {
  query: Q extends TObject ? Static<Q> : undefined;
  body: B extends TObject ? Static<B> : undefined;
  resource: Row;
};

type OpenRouteDefinition<Q extends TObject | undefined, B extends TObject | undefined> = {
  summary: string;
  /** Path parameters that are not UUIDs. */
  pathParameters?: Record<string, PathParameter>;
  query?: Q;
  body?: B;
  /** A request without a body counts as one without properties. Defaults to false. */
  isBodyOptional?: boolean;
  /** Defaults to JSON. */
  bodyType?: BodyType;
  /** Defaults to `MAX_BODY_BYTES`. */
  maxBodyBytes?: number;
  /** Successful responses by status, for the OpenAPI document. */
  responses: Record<number, ResponseDoc>;
  /** Error codes besides those that every route of its kind can return. */
  errors?: HttpCode[];
  /** An example body for the OpenAPI document. */
  example?: unknown;
  /** Descriptions of request headers that only this call has. */
  headers?: Record<string, string>;
  errorHeaders?(status: number): Record<string, string>;
  /** Without a reply, the response is 204. */
  handle(call: OpenCall, input: Omit<RouteInput<Q, B, undefined>, "resource">): Promise<Reply> | Promise<void>;
};

type RouteDefinition<Q extends TObject | undefined, B extends TObject | undefined, Row> = Omit<
  OpenRouteDefinition<Q, B>,
  "handle"
> & {
  /** Differences from `DEFAULT_ACCESS`. */
  access?: Partial<Omit<RouteAccess, "authentication">>;
  /** The handler supports `Idempotency-Key` (through `createOnce`). */
  idempotent?: boolean;
  load?: ResourceLoader<Row> | undefined;
  /** Adds parts to a reply that must not be stored for `Idempotency-Key`, also to a replayed one. */
  complete?(call: Call, reply: Reply): Reply | Promise<Reply>;
  /** Without a reply, the response is 204. */
  handle(call: Call, input: RouteInput<Q, B, Row>): Promise<Reply> | Promise<void>;
};

export function route<
  Q extends TObject | undefined = undefined,
  B extends TObject | undefined = undefined,
  Row = undefined,
>(definition: RouteDefinition<Q, B, Row>): RouteHandler {
  const { access, idempotent = false, load, complete = (_: Call, reply: Reply) => reply } = definition;
  return {
    ...withDefaults(definition),
    access: { ...DEFAULT_ACCESS, ...access },
    idempotent,
    run: async (received, params, principal) => {
      if (principal === null) throw new Error(`${definition.summary}: no principal`);
      const call: Call = {
        ...received,
        params: parsePath(params, definition.pathParameters),
        principal,
        idempotency: null,
      };
      let resource = load && (await getResource(call, load));
      const { text, ...input } = await readInput(definition, call);
      if (definition.body) {
        // Sending the body may take long. Meanwhile the caller may have lost access, or the resource may have changed.
        call.principal = await received.reauthorize();
        resource = load && (await getResource(call, load));
      }
      if (idempotent) {
        const sent = definition.body ? withoutSecrets(definition.body, input.body, text) : text;
        call.idempotency = readIdempotencyKey(call, sent, Object.keys(definition.headers ?? {}));
        // Before the handler, whose checks may have another result by now. `createOnce` looks again in its transaction.
        const replay = await findReplay(call.services.store.read, call.idempotency, call.services.now());
        if (replay) return complete(call, replay);
      }
      const handled = { ...input, resource } as RouteInput<Q, B, Row>;
      const handle = async (): Promise<Reply> => (await definition.handle(call, handled)) ?? noContent();
      const reply = await handle().catch(async (error) => {
        // Job codes, such as that of a missing source, are not HTTP errors either.
        if (!(error instanceof AppError && isHttpCode(error.code))) await requirePresence(call, load);
        throw error;
      });
      return complete(call, reply);
    },
  };
}

/** Returns the resource in the path. Throws `AppError` `not_found`. */
export const getResource = async <Row>(call: Call, load: ResourceLoader<Row>): Promise<Row> =>
  requireFound(await load.find(call), load.name);

/** Throws `AppError` if the workspace or the resource was deleted while the call ran, which is why it failed. */
async function requirePresence(call: Call, load: ResourceLoader<unknown> | undefined): Promise<void> {
  const refusal = await call.reauthorize({ isUse: false }).then(
    async () => (load && (await load.find(call)) === null ? notFound(load.name) : null),
    (error) => error,
  );
  if (refusal instanceof AppError) throw refusal;
}

/** Creates the handler of a route without authentication: only the request identifies the caller. */
export function openRoute<Q extends TObject | undefined = undefined, B extends TObject | undefined = undefined>(
  definition: OpenRouteDefinition<Q, B>,
): RouteHandler {
  return {
    ...withDefaults(definition),
    access: { ...DEFAULT_ACCESS, authentication: "none", inGrace: true, target: "account", rateLimited: false },
    idempotent: false,
    run: async (received, params) => {
      const call: OpenCall = { ...received, params: parsePath(params, definition.pathParameters) };
      const { query, body } = await readInput(definition, call);
      return (await definition.handle(call, { query, body } as RouteInput<Q, B, undefined>)) ?? noContent();
    },
  };
}

type Definition = Omit<OpenRouteDefinition<TObject | undefined, TObject | undefined>, "handle">;

const withDefaults = (definition: Definition): Omit<RouteHandler, "access" | "idempotent" | "run"> => ({
  example: undefined,
  query: undefined,
  body: undefined,
  pathParameters: {},
  isBodyOptional: false,
  bodyType: "json",
  maxBodyBytes: MAX_BODY_BYTES,
  errors: [],
  headers: {},
  errorHeaders: () => ({}),
  ...definition,
});

/** Parses query and body. `text` is the body as it was sent. Throws `AppError`. */
async function readInput(definition: Definition, { request, services }: OpenCall) {
  const { query, body, bodyType = "json", maxBodyBytes: maxBytes = MAX_BODY_BYTES } = definition;
  const parsedQuery = query ? parseQuery(query, new URL(request.url)) : undefined;
  const timeoutMs = services.config.requestTimeoutSeconds * 1000;
  const sent = body ? await readBodyText(request, { type: bodyType, maxBytes, timeoutMs }) : "";
  const text = sent === "" && definition.isBodyOptional ? "{}" : sent;
  const parse = bodyType === "form" ? parseForm : parseBody;
  const parsedBody = body ? await runLargeTasksSerially(text, () => parse(body, text)) : undefined;
  return { query: parsedQuery, body: parsedBody, text };
}

/**
 * Returns a body as text with the names of its secrets only: its hash is stored, and a password could be guessed from
 * it.
 */
function withoutSecrets({ properties }: TObject, body: object | undefined, text: string): string {
  const secrets = Object.keys(properties).filter((name) => properties[name]!.writeOnly === true);
  if (secrets.length === 0) return text;
  return JSON.stringify(Object.entries(body ?? {}).map((entry) => (secrets.includes(entry[0]) ? entry[0] : entry)));
}

const MAX_KEY_CHARACTERS = 255;

/** Returns the key of a request. It covers method, path, query, body, and the request's own headers. */
function readIdempotencyKey(call: Call, body: string, ownHeaders: string[]): Call["idempotency"] {
  const key = call.request.headers.get("idempotency-key");
  if (!key) return null;
  if (key.length > MAX_KEY_CHARACTERS)
    throw badRequest(`Idempotency-Key must have at most ${MAX_KEY_CHARACTERS} characters.`);
  const { pathname, search } = new URL(call.request.url);
  const { user, workspace } = call.principal;
  const { headers } = call.request;
  const own = ownHeaders.filter((name) => headers.has(name)).map((name) => `\0${name}\0${headers.get(name)}`);
  const request = `${call.request.method}\0${pathname}${search}\0${body}${own.join("")}`;
  // The same request in another workspace is another request.
  const isPersonal = workspace.id === user.id;
  return { userId: user.id, key, requestHash: sha256(isPersonal ? request : `${workspace.id}\0${request}`) };
}
