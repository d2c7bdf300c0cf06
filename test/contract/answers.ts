/** What must be true of any answer of the public family, whatever was asked: held against its schemas and its own documentation. */
import { FormatRegistry, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { HTTP_STATUS, isHttpCode } from "../../src/domain/errors";
import { publicRoutes } from "../../src/http/public";
import { SCHEMAS } from "../../src/http/public/schemas";
import type { ResponseDoc } from "../../src/http/response-docs";
import type { ErrorBody } from "../http/resources";
import { failure } from "./schemas";

FormatRegistry.Set("date-time", (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export type Answered = { status: number; headers: Headers; body: unknown };
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

/** What is wrong with a value, as `path: what`. */
export const faults = (schema: TSchema, value: unknown): string[] =>
  [...Value.Errors(schema, value)].map((error) => `${error.path}: ${error.message}`);

const schemaOf = (answer: ResponseDoc): TSchema | null => {
  if (answer.body === null || answer.body.kind === "file") return null;
  const schema: TSchema = SCHEMAS[answer.body.name];
  if (answer.body.kind === "resource") return schema;
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

/** Finds what is wrong with an answer: an empty list when it keeps the contract. */
export function inspector(document: ApiDocument): (method: string, path: string, answer: Answered) => string[] {
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`),
      operation,
    })),
  );

  return (method, path, answer) => {
    const { pathname } = new URL(path, "http://offcut");
    const asked = <T extends { method: string; pattern: RegExp }>(one: T) =>
      one.method === method && one.pattern.test(pathname);
    const operation = operations.find(asked)?.operation;
    const found = operation && !operation.responses[answer.status] ? [`status ${answer.status} is not documented`] : [];
    if (!UUID.test(answer.headers.get("x-request-id") ?? "")) found.push("no X-Request-Id");
    if (answer.status >= 400) {
      if (method === "HEAD") return found;
      const documented = operation?.responses[answer.status]?.description;
      return [...found, ...wrongWithFailure(answer, documented)];
    }
    if (answer.status === 204 && answer.body !== "") found.push("204 with a body");
    if (answer.status === 201 && !answer.headers.has("location")) found.push("201 without Location");
    const expected = routes.find(asked)?.responses[answer.status];
    const schema = expected && schemaOf(expected);
    return schema ? [...found, ...faults(schema, answer.body)] : found;
  };
}

function wrongWithFailure(answer: Answered, documented: string | undefined): string[] {
  const wrong = faults(failure, answer.body);
  if (wrong.length > 0) return wrong;
  const { code, fields } = (answer.body as ErrorBody).error;
  const found: string[] = [];
  if (!isHttpCode(code) || HTTP_STATUS[code] !== answer.status) found.push(`${code} with status ${answer.status}`);
  if (documented !== undefined && !documented.includes(`\`${code}\``)) found.push(`${code} is not documented`);
  if (fields && code !== "validation_error") found.push(`fields with ${code}`);
  if (JSON.stringify(answer.body).includes(answer.headers.get("x-request-id")!))
    found.push("the body names the request");
  const mustWait = ["rate_limited", "asset_processing", "upstream_unavailable"].includes(code);
  if (mustWait && !/^[1-9]\d*$/.test(answer.headers.get("retry-after") ?? ""))
    found.push(`${code} without Retry-After`);
  return found;
}
