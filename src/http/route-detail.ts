/** The `detail` of a route: its operation in the OpenAPI document of a family. */
import type { TSchema } from "@sinclair/typebox";
import type { HttpCode } from "../domain/errors";
import { BODY_TYPES } from "./parse-request";
import { describeErrors, describeParameter, type JsonObject } from "./response-docs";
import { type Route, WORKSPACE_HEADER } from "./route";

/** The common parts of a family's operations. */
type FamilyTraits = { prefix: string; hasWorkspaces?: boolean };

/** Converts a schema to plain JSON without the properties that only validation uses. */
export function toPlainSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlainSchema);
  if (typeof value !== "object" || value === null) return value;
  const { errorText: _, characters, ...rest } = value as JsonObject;
  const shown = characters === undefined ? rest : { ...rest, format: undefined, maxLength: characters };
  return Object.fromEntries(Object.entries(shown).map(([key, inner]) => [key, toPlainSchema(inner)]));
}

export function describeRoute(route: Route, family: FamilyTraits): JsonObject {
  // A family with one resource mounts it at the prefix itself.
  const path = /^(\/:|$)/.test(route.path) ? `${family.prefix}${route.path}` : route.path;
  const name = path.replaceAll(":", "").replace(/[/_-](\w)/g, (_, first: string) => first.toUpperCase());
  const hasWorkspaceHeader = takesWorkspace(route, family);
  return {
    operationId: `${route.method.toLowerCase()}${name}`,
    summary: route.summary,
    tags: [path.split("/")[1]],
    security: route.access.authentication === "none" ? [] : undefined,
    parameters: listParameters(route, hasWorkspaceHeader),
    requestBody: describeBody(route),
    responses: { ...describeSuccesses(route), ...describeErrors(listErrorCodes(route, hasWorkspaceHeader)) },
  };
}

/** Returns whether callers can name the workspace of this route in a header. */
const takesWorkspace = ({ access, path }: Route, { hasWorkspaces }: FamilyTraits): boolean =>
  hasWorkspaces === true &&
  access.authentication === "required" &&
  access.target === "workspace" &&
  !path.includes(":workspace_id");

function listParameters(route: Route, hasWorkspaceHeader: boolean): JsonObject[] {
  const uuid = { type: "string", format: "uuid" };
  const parameters = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) =>
    describeParameter("path", name!, { schema: toPlainSchema(route.pathParameters[name!]?.schema ?? uuid) }),
  );
  const { properties = {}, required = [] } = (route.query ?? {}) as Partial<TSchema>;
  for (const [name, schema] of Object.entries(properties as Record<string, TSchema>)) {
    const isRequired = required.includes(name) && schema.default === undefined;
    const { description } = schema;
    parameters.push(
      describeParameter("query", name, { required: isRequired, description, schema: toPlainSchema(schema) }),
    );
  }
  if (route.idempotent)
    parameters.push(describeParameter("header", "Idempotency-Key", { schema: { type: "string", maxLength: 255 } }));
  if (hasWorkspaceHeader) {
    const description = "The workspace to act in. Default: that of the API key, else your own";
    parameters.push(describeParameter("header", WORKSPACE_HEADER, { description, schema: uuid }));
  }
  for (const [name, description] of Object.entries(route.headers))
    parameters.push(describeParameter("header", name, { description }));
  return parameters;
}

const describeBody = ({ body, isBodyOptional, bodyType, maxBodyBytes, example }: Route): JsonObject | undefined =>
  body && {
    required: !isBodyOptional,
    description: `At most ${maxBodyBytes / 1024} KiB.`,
    content: { [BODY_TYPES[bodyType]]: { schema: toPlainSchema(body), example } },
  };

const describeSuccesses = ({ responses }: Route): JsonObject =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { description, headers, content }]) => [
      status,
      {
        description,
        headers: {
          "X-Request-Id": { schema: { type: "string", format: "uuid" } },
          Location: status === "201" ? { schema: { type: "string" } } : undefined,
          ...headers,
        },
        content,
      },
    ]),
  );

const BODY_ERRORS: HttpCode[] = [
  "bad_request",
  "unsupported_media_type",
  "payload_too_large",
  "validation_error",
  "upstream_unavailable",
];

function listErrorCodes({ access, path, query, body, errors }: Route, hasWorkspaceHeader: boolean): HttpCode[] {
  const codes: HttpCode[] = access.authentication === "none" ? [] : ["unauthenticated"];
  codes.push("forbidden", "rate_limited", "internal_error");
  if (path.includes(":")) codes.push("not_found", "validation_error");
  if (hasWorkspaceHeader) codes.push("not_found");
  if (query) codes.push("validation_error");
  if (body) codes.push(...BODY_ERRORS);
  return [...codes, ...errors];
}
