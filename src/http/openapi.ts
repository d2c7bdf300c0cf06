/** OpenAPI 3.1 documents, generated from the routes that a family mounts. `JSON.stringify` leaves out undefined properties. */
import type { TSchema } from "@sinclair/typebox";
import { HTTP_STATUS, type HttpCode } from "../domain/errors";
import { EVENT_STREAM_TYPE } from "./event-stream";
import { EVENT_SCHEMAS, EVENT_STREAM_DESCRIPTION } from "./event-stream-docs";
import { type Family, WORKSPACE_HEADER } from "./family";
import { type JsonObject, schemaRef } from "./openapi-parts";
import { BODY_TYPES } from "./parse-request";
import type { ResponseBodyDoc, ResponseDoc } from "./response-docs";
import type { Route } from "./route";
import { SCHEMAS, type SchemaName } from "./schemas";
import { createUploadPaths } from "./uploads/openapi-paths";

/** Converts a schema to plain JSON without the properties that only validation uses. */
function toPlainSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlainSchema);
  if (typeof value !== "object" || value === null) return value;
  const { errorText: _, characters, ...rest } = value as JsonObject;
  const shown = characters === undefined ? rest : { ...rest, format: undefined, maxLength: characters };
  return Object.fromEntries(Object.entries(shown).map(([key, inner]) => [key, toPlainSchema(inner)]));
}

/** Returns the document of a family. */
export const createOpenApiDocument = (family: Family): JsonObject => ({
  // 3.1 for nullable types.
  openapi: "3.1.0",
  info: { title: "Offcut", version: "0.0.0", description: family.document.guide ?? undefined },
  paths: { ...createPaths(family), ...createUploadPaths(family) },
  components: {
    schemas: toPlainSchema({ ...collectSchemas(family), Error: family.errorShape.schema }),
    securitySchemes: family.document.securitySchemes,
  },
  security: Object.keys(family.document.securitySchemes).map((name) => ({ [name]: [] })),
});

/** Returns the schemas that the responses of the family use. */
function collectSchemas({ routes, hasWorkspaces }: Family): Record<string, JsonObject> {
  const names = new Set(
    routes.flatMap(({ responses }) => Object.values(responses).flatMap(({ body }) => listSchemaNames(body))),
  );
  const used = Object.entries(SCHEMAS).filter(([name]) => names.has(name as SchemaName));
  return Object.fromEntries(used.map(([name, schema]) => [name, withAuthors(schema, hasWorkspaces)]));
}

function listSchemaNames(body: ResponseBodyDoc): SchemaName[] {
  if (body?.kind === "events") return EVENT_SCHEMAS;
  return body && "name" in body ? [body.name] : [];
}

/** Returns the schema of a resource with the field `created_by` required, or without it. Other schemas stay as they are. */
function withAuthors(schema: JsonObject, showsAuthors: boolean): JsonObject {
  const { properties, required } = schema as { properties?: JsonObject; required?: string[] };
  if (!properties || !required || !("created_by" in properties)) return schema;
  const { created_by: author, ...others } = properties;
  return showsAuthors
    ? { ...schema, properties: { ...others, created_by: author }, required: [...required, "created_by"] }
    : { ...schema, properties: others };
}

const createPageSchema = (name: SchemaName): JsonObject => ({
  type: "object",
  required: ["items", "limit", "next_cursor"],
  properties: {
    items: { type: "array", items: schemaRef(name) },
    limit: { type: "integer" },
    next_cursor: { type: ["string", "null"], description: "null on the last page" },
  },
});

const createOffsetPageSchema = (name: SchemaName): JsonObject => ({
  type: "object",
  required: ["items", "total", "limit", "offset"],
  properties: {
    items: { type: "array", items: schemaRef(name) },
    total: { type: "integer", description: "the items of all pages" },
    limit: { type: "integer" },
    offset: { type: "integer" },
  },
});

const EVENT_DATA: JsonObject = {
  description: EVENT_STREAM_DESCRIPTION,
  anyOf: [...EVENT_SCHEMAS.map(schemaRef), { type: "object", additionalProperties: false }],
};

function createBodySchema({ kind, name }: { kind: "resource" | "page" | "offset_page"; name: SchemaName }): JsonObject {
  if (kind === "page") return createPageSchema(name);
  return kind === "offset_page" ? createOffsetPageSchema(name) : schemaRef(name);
}

function createContent(body: ResponseBodyDoc): JsonObject {
  if (body === null) return {};
  if (body.kind === "events") return { content: { [EVENT_STREAM_TYPE]: { schema: EVENT_DATA } } };
  if (body.kind === "file") return { content: { "*/*": { schema: { type: "string" } } } };
  return {
    content: {
      "application/json": { schema: createBodySchema(body) },
    },
  };
}

/** Returns whether callers can name the workspace of this route in a header. */
const takesWorkspace = (route: Route, { hasWorkspaces }: Family): boolean =>
  hasWorkspaces &&
  route.access.authentication === "required" &&
  route.access.target === "workspace" &&
  !route.path.includes(":workspace_id");

/** Lists the error codes that a route can return besides its own. */
function listCommonCodes(route: Route, family: Family): HttpCode[] {
  const isOpen = route.access.authentication === "none";
  const codes: HttpCode[] = isOpen
    ? ["forbidden", "rate_limited", "internal_error"]
    : ["unauthenticated", "forbidden", "rate_limited", "internal_error"];
  if (route.path.includes(":")) codes.push("not_found", "validation_error");
  if (takesWorkspace(route, family)) codes.push("not_found");
  if (route.query) codes.push("validation_error");
  if (route.body) {
    codes.push(
      "bad_request",
      "unsupported_media_type",
      "payload_too_large",
      "validation_error",
      "upstream_unavailable",
    );
  }
  return codes;
}

function createResponses(route: Route, family: Family): JsonObject {
  const codes = [...new Set([...listCommonCodes(route, family), ...route.errors])];
  const byStatus = Map.groupBy(codes, (code) => HTTP_STATUS[code]);
  const errors = [...byStatus].map(([status, group]) => [
    status,
    {
      description: group.map((code) => `\`${code}\``).join(", "),
      headers: hasRetryAfter(group) ? { "Retry-After": { schema: { type: "integer" } } } : undefined,
      content: { "application/json": { schema: schemaRef("Error") } },
    },
  ]);
  const successes = Object.entries(route.responses as Record<string, ResponseDoc>).map(
    ([status, { description, body }]) => [
      status,
      {
        description,
        headers: {
          "X-Request-Id": { schema: { type: "string", format: "uuid" } },
          Location: status === "201" ? { schema: { type: "string" } } : undefined,
        },
        ...createContent(body),
      },
    ],
  );
  return Object.fromEntries([...successes, ...errors]);
}

function createParameters(route: Route, family: Family): JsonObject[] {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name: name!,
    in: "path",
    required: true,
    schema: toPlainSchema(route.pathParameters[name!]?.schema ?? { type: "string", format: "uuid" }),
  }));
  const required = new Set(route.query?.required ?? []);
  const inQuery = Object.entries((route.query?.properties ?? {}) as Record<string, TSchema>).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.has(name) && schema.default === undefined,
    description: schema.description,
    schema: toPlainSchema(schema),
  }));
  const headers = route.idempotent
    ? [{ name: "Idempotency-Key", in: "header", required: false, schema: { type: "string", maxLength: 255 } }]
    : [];
  const workspace = takesWorkspace(route, family)
    ? [
        {
          name: WORKSPACE_HEADER,
          in: "header",
          required: false,
          description: "The workspace to act in. Default: that of the API key, else your own",
          schema: { type: "string", format: "uuid" },
        },
      ]
    : [];
  const own = Object.entries(route.headers).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  }));
  return [...inPath, ...inQuery, ...headers, ...workspace, ...own];
}

const hasRetryAfter = (codes: HttpCode[]): boolean =>
  codes.some((code) => ["rate_limited", "asset_processing", "upstream_unavailable"].includes(code));

const createRequestBody = (route: Route): JsonObject | undefined =>
  route.body && {
    required: true,
    description: `At most ${route.maxBodyBytes / 1024} KiB.`,
    content: { [BODY_TYPES[route.bodyType]]: { schema: toPlainSchema(route.body), example: route.example } },
  };

function createPaths(family: Family): Record<string, JsonObject> {
  const { prefix, routes } = family;
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = `${prefix}${route.path.replace(/:(\w+)/g, "{$1}")}`;
    // A family of one resource has it at the prefix itself.
    const resourcePath = /^(\/:|$)/.test(route.path) ? `${prefix}${route.path}` : route.path;
    const name = `${route.method.toLowerCase()}${resourcePath
      .replaceAll(":", "")
      .replace(/[/_-](\w)/g, (_, c: string) => c.toUpperCase())}`;
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = {
      operationId: name,
      summary: route.summary,
      tags: [resourcePath.split("/")[1]!],
      security: route.access.authentication === "none" ? [] : undefined,
      parameters: createParameters(route, family),
      requestBody: createRequestBody(route),
      responses: createResponses(route, family),
    };
  }
  return paths;
}
