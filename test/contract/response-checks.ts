/** Checks the invariants of every response of the public family, according to its schemas and its OpenAPI document. */
import { FormatRegistry, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { HTTP_STATUS, isHttpCode } from "../../src/domain/errors";
import { publicRoutes } from "../../src/http/public";
import type { ResponseDoc } from "../../src/http/response-docs";
import { SCHEMAS } from "../../src/http/schemas";
import type { ErrorBody } from "../http/resources";
import { failure } from "./schemas";

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

const schemaOf = (response: ResponseDoc): TSchema | null => {
  if (response.body === null || response.body.kind === "file") return null;
  const schema: TSchema = SCHEMAS[response.body.name];
  if (response.body.kind === "resource") return schema;
  return Type.Object(
    {
      items: Type.Array(schema),
      limit: Type.Integer({ minimum: 1 }),
      next_cursor: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
    },
    { additionalProperties: false },
  );
};

const routes = publicRoutes.map((route) => ({
  method: route.method,
  pattern: new RegExp(`^/v1${route.path.replace(/:\w+/g, "[^/]+")}$`),
  responses: route.responses,
}));

/** Creates a function that lists the errors of a response; an empty list if it keeps the contract. */
export function createResponseChecker(
  document: ApiDocument,
): (method: string, path: string, response: ReceivedResponse) => string[] {
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
      return [...found, ...listFailureErrors(response, documented)];
    }
    if (response.status === 204 && response.body !== "") found.push("204 with a body");
    if (response.status === 201 && !response.headers.has("location")) found.push("201 without Location");
    const expected = routes.find(matches)?.responses[response.status];
    const schema = expected && schemaOf(expected);
    return schema ? [...found, ...listErrors(schema, response.body)] : found;
  };
}

function listFailureErrors(response: ReceivedResponse, documented: string | undefined): string[] {
  const wrong = listErrors(failure, response.body);
  if (wrong.length > 0) return wrong;
  const { code, fields } = (response.body as ErrorBody).error;
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
