/** Checks the invariants of every response of a family, according to its schemas and its OpenAPI document. */
import { FormatRegistry, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { HTTP_STATUS, isHttpCode } from "../../src/domain/errors";
import { DASHBOARD_PREFIX, dashboardRoutes } from "../../src/http/dashboard";
import { PUBLIC_PREFIX, publicRoutes } from "../../src/http/public";
import type { ResponseDoc } from "../../src/http/response-docs";
import type { Route } from "../../src/http/route";
import { SCHEMAS, type SchemaName } from "../../src/http/schemas";
import type { ErrorBody } from "../http/resources";
import { dashboardFailure, dashboardValidation, failure } from "./schemas";

FormatRegistry.Set("date-time", (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export type ReceivedResponse = { status: number; headers: Headers; body: unknown };
export type Operation = {
  parameters?: { name: string; in: string; required: boolean; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema; example?: unknown }> };
  responses: Record<string, { description: string }>;
};
export type JsonSchema = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  maxLength?: number;
  $ref?: string;
};
export type ApiDocument = { openapi: string; paths: Record<string, Record<string, Operation>> };

/** Lists the errors of a value as `path: message`. */
export const listErrors = (schema: TSchema, value: unknown): string[] =>
  [...Value.Errors(schema, value)].map((error) => `${error.path}: ${error.message}`);

/** Returns the schema of a response; null if it has no JSON body. */
export const findResponseSchema = (response: ResponseDoc): TSchema | null => {
  const described = response.content?.["application/json"]?.schema as JsonSchema | undefined;
  if (!described) return null;
  if (described.$ref) return findSchema(described);
  const schema = findSchema(described.properties!.items!.items!);
  if ("offset" in described.properties!) return offsetPageOf(schema);
  return Type.Object(
    {
      items: Type.Array(schema),
      limit: Type.Integer({ minimum: 1 }),
      next_cursor: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
    },
    { additionalProperties: false },
  );
};

const findSchema = ({ $ref }: JsonSchema): TSchema => SCHEMAS[$ref!.replace("#/components/schemas/", "") as SchemaName];

const offsetPageOf = (schema: TSchema): TSchema =>
  Type.Object(
    {
      items: Type.Array(schema),
      total: Type.Integer({ minimum: 0 }),
      limit: Type.Integer({ minimum: 1 }),
      offset: Type.Integer({ minimum: 0 }),
    },
    { additionalProperties: false },
  );

/** `readFailure` returns the code of an error body, or its problem. `fields`: the failing fields. */
type FamilyContract = {
  prefix: string;
  routes: Route[];
  readFailure(body: unknown): { wrong: string[] } | { wrong: null; code: string; fields: unknown[] | undefined };
};

export const PUBLIC_CONTRACT: FamilyContract = {
  prefix: PUBLIC_PREFIX,
  routes: publicRoutes,
  readFailure: (body) => {
    const wrong = listErrors(failure, body);
    if (wrong.length > 0) return { wrong };
    const { code, fields } = (body as ErrorBody).error;
    return { wrong: null, code, fields };
  },
};

export const DASHBOARD_CONTRACT: FamilyContract = {
  prefix: DASHBOARD_PREFIX,
  routes: dashboardRoutes,
  readFailure: (body) => {
    const { detail, code } = (body ?? {}) as { detail?: unknown; code?: string };
    if (Array.isArray(detail)) {
      const wrong = listErrors(dashboardValidation, body);
      return wrong.length > 0 ? { wrong } : { wrong: null, code: "validation_error", fields: detail };
    }
    const wrong = listErrors(dashboardFailure, body);
    return wrong.length > 0 ? { wrong } : { wrong: null, code: code!, fields: undefined };
  },
};

/** Lists the routes of a family without a successful call in the log, as `GET /projects`. */
export const listUncalledRoutes = (
  { prefix, routes }: FamilyContract,
  calls: { method: string; path: string; status: number }[],
): string[] =>
  routes
    .filter((route) => {
      const pattern = createPathPattern(prefix, route);
      return !calls.some(({ method, path, status }) => status < 400 && method === route.method && pattern.test(path));
    })
    .map(({ method, path }) => `${method} ${path}`);

const createPathPattern = (prefix: string, { path }: Route): RegExp =>
  new RegExp(`^${prefix}${path.replace(/:\w+/g, "[^/]+")}$`);

/** Creates a function that lists the errors of a response; an empty list if it keeps the contract. */
export function createResponseChecker(
  document: ApiDocument,
  contract: FamilyContract = PUBLIC_CONTRACT,
): (method: string, path: string, response: ReceivedResponse) => string[] {
  const routes = contract.routes.map((route) => ({
    method: route.method,
    pattern: createPathPattern(contract.prefix, route),
    responses: route.responses,
  }));
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`),
      operation,
    })),
  );

  return (method, path, response) => {
    const { pathname } = new URL(path, "http://offcut");
    const matches = <T extends { method: string; pattern: RegExp }>(one: T) =>
      one.method === method && one.pattern.test(pathname);
    const operation = operations.find(matches)?.operation;
    const found =
      operation && !operation.responses[response.status] ? [`status ${response.status} is not documented`] : [];
    if (!UUID.test(response.headers.get("x-request-id") ?? "")) found.push("no X-Request-Id");
    if (response.status >= 400) {
      if (method === "HEAD") return found;
      const documented = operation?.responses[response.status]?.description;
      return [...found, ...listFailureErrors(response, documented, contract)];
    }
    if (response.status === 204 && response.body !== "") found.push("204 with a body");
    if (response.status === 201 && !response.headers.has("location")) found.push("201 without Location");
    const expected = routes.find(matches)?.responses[response.status];
    const schema = expected && findResponseSchema(expected);
    return schema ? [...found, ...listErrors(schema, response.body)] : found;
  };
}

function listFailureErrors(
  response: ReceivedResponse,
  documented: string | undefined,
  contract: FamilyContract,
): string[] {
  const read = contract.readFailure(response.body);
  if (read.wrong !== null) return read.wrong;
  const { code, fields } = read;
  const found: string[] = [];
  if (!isHttpCode(code) || HTTP_STATUS[code] !== response.status) found.push(`${code} with status ${response.status}`);
  if (documented !== undefined && !documented.includes(`\`${code}\``)) found.push(`${code} is not documented`);
  if (fields && code !== "validation_error") found.push(`fields with ${code}`);
  if (JSON.stringify(response.body).includes(response.headers.get("x-request-id")!))
    found.push("the body names the request");
  const mustWait = ["rate_limited", "asset_processing", "upstream_unavailable"].includes(code);
  if (mustWait && !/^[1-9]\d*$/.test(response.headers.get("retry-after") ?? ""))
    found.push(`${code} without Retry-After`);
  return found;
}
