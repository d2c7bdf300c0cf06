/** OpenAPI documents, which the plugin of Elysia makes from the `detail` of each route of a family. */
import { type ElysiaSwaggerConfig, swagger } from "@elysiajs/swagger";
import { type DocumentDecoration, Elysia } from "elysia";
import type { Family, FamilyRoute } from "./family";
import type { JsonObject } from "./response-docs";
import { toPlainSchema } from "./route-detail";
import { SCHEMAS } from "./schemas";

/** `version` is the version of the contract, not of the program. */
const DOCUMENT_INFO = { title: "Offcut", version: "0.0.0" };

const DOCUMENT_PATH = "/openapi.json";

export async function createOpenApiDocument(family: Family, routes: FamilyRoute[]): Promise<string> {
  const { guide, securitySchemes } = family.document;
  const operations = routes.map(({ method, path, detail }) => ({ method, path, detail: detail() }));
  const documentation = {
    // 3.1 for nullable types.
    openapi: "3.1.0",
    info: { ...DOCUMENT_INFO, description: guide.text },
    // The plugin fills them in: here they have their place.
    paths: {},
    components: {
      schemas: toPlainSchema({ ...collectSchemas(family, operations), Error: family.errorShape.schema }),
      securitySchemes,
    },
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
  } as ElysiaSwaggerConfig["documentation"] & object;
  // A separate app, because the plugin describes all routes of an app.
  const app = new Elysia().use(
    swagger({ documentation, specPath: DOCUMENT_PATH, excludeMethods: [], excludeStaticFile: false }),
  );
  for (const { method, path, detail } of operations)
    app.route(method, path, () => {}, { detail: detail as DocumentDecoration });
  return (await app.handle(new Request(`http://offcut${DOCUMENT_PATH}`))).text();
}

function collectSchemas({ hasWorkspaces = false }: Family, operations: object[]): JsonObject {
  const references = JSON.stringify(operations).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  const names = new Set([...references].map(([, name]) => name));
  const used = Object.entries(SCHEMAS).filter(([name]) => names.has(name));
  return Object.fromEntries(used.map(([name, schema]) => [name, withWorkspaceFields(schema, hasWorkspaces)]));
}

/** The fields that resources have only in families with workspaces. */
const WORKSPACE_FIELDS = ["created_by", "cut_after_upload"];

/**
 * Returns the schema of a resource with the fields of `WORKSPACE_FIELDS` required, or without them. Keeps other
 * schemas.
 */
function withWorkspaceFields(schema: JsonObject, areShown: boolean): JsonObject {
  const { properties, required } = schema as { properties?: JsonObject; required?: string[] };
  const own = WORKSPACE_FIELDS.filter((name) => properties !== undefined && name in properties);
  if (!properties || !required || own.length === 0) return schema;
  const others = Object.fromEntries(Object.entries(properties).filter(([name]) => !own.includes(name)));
  const added = Object.fromEntries(own.map((name) => [name, properties[name]!]));
  return areShown
    ? { ...schema, properties: { ...others, ...added }, required: [...required, ...own] }
    : { ...schema, properties: others };
}
