/** The OpenAPI document of every family describes every operation of its table, and is valid. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createFamilies } from "../../src/http/app";
import type { Family } from "../../src/http/family";
import type { Route } from "../../src/http/route";
import { type Harness, harness } from "../http/harness";
import type { ApiDocument, JsonSchema, Operation } from "./response-checks";

setDefaultTimeout(60_000);

type Described = Operation & {
  operationId: string;
  summary: string;
  security?: object[];
  responses: Record<string, { description: string; content?: Record<string, { schema?: JsonSchema }> }>;
};
type Whole = ApiDocument & {
  info: { description?: string; version: string };
  security: Record<string, unknown>[];
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, unknown> };
};

let server: Harness;
let families: { family: Family; document: Whole }[];
beforeAll(async () => {
  server = await harness();
  families = await Promise.all(
    createFamilies(server.services()).map(async (family) => ({
      family,
      document: await server.nobody.must<Whole>("GET", family.document.path),
    })),
  );
});
afterAll(() => server[Symbol.asyncDispose]());

/** Lists the references of a document that lead nowhere. */
function listBrokenReferences({ paths, components }: Whole): string[] {
  const names = [...JSON.stringify({ paths, components }).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
  return [...new Set(names.map(([, name]) => name!))].filter((name) => !(name in components.schemas));
}

const findOperation = (document: Whole, { prefix }: Family, route: Route): Described | undefined =>
  document.paths[`${prefix}${route.path.replace(/:(\w+)/g, "{$1}")}`]?.[route.method.toLowerCase()] as Described;

/** Lists what the description of a route lacks. */
function listGaps(route: Route, operation: Described | undefined): string[] {
  if (!operation) return ["is not described"];
  const gaps: string[] = [];
  if (!/^[A-Z]/.test(operation.summary)) gaps.push("no summary");
  const parameters = (operation.parameters ?? []).map(({ in: place, name }) => `${place} ${name}`);
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => `path ${name}`);
  const inQuery = Object.keys(route.query?.properties ?? {}).map((name) => `query ${name}`);
  for (const name of [...inPath, ...inQuery]) if (!parameters.includes(name)) gaps.push(`no parameter ${name}`);
  for (const { name, schema } of operation.parameters ?? []) if (!schema) gaps.push(`no schema of ${name}`);
  const contents = Object.values(operation.requestBody?.content ?? {});
  if (route.body) {
    const described = Object.keys(contents[0]?.schema.properties ?? {}).toSorted();
    const missing = Object.keys(route.body.properties).filter((name) => !described.includes(name));
    if (contents.length !== 1) gaps.push("no request schema");
    if (missing.length > 0) gaps.push(`request without ${missing}`);
    if (contents[0]?.example === undefined && route.method === "POST") gaps.push("no example");
  } else if (contents.length > 0) gaps.push("a request body that it does not take");
  return [...gaps, ...listResponseGaps(route, operation)];
}

function listResponseGaps(route: Route, { responses, security }: Described): string[] {
  const gaps: string[] = [];
  for (const [status, { content }] of Object.entries(route.responses)) {
    const described = responses[status];
    if (!described?.description) gaps.push(`no ${status}`);
    const hasSchema = Object.values(described?.content ?? {}).some(({ schema }) => schema !== undefined);
    if (hasSchema !== (content !== undefined))
      gaps.push(`${status}: schema ${hasSchema ? "of nothing" : "is missing"}`);
  }
  const isOpen = route.access.authentication === "none";
  const needed = isOpen ? ["429", "500"] : ["401", "403", "429", "500"];
  for (const status of needed) if (!responses[status]?.content) gaps.push(`no ${status}`);
  if (isOpen !== (security?.length === 0)) gaps.push("wrong security");
  return gaps;
}

test("there is a document for the public family, the dashboard's, and API keys", () => {
  const paths = families.map(({ family }) => family.document.path);
  expect(paths).toEqual(expect.arrayContaining(["/openapi.json", "/api/v1/openapi.json", "/api-keys/openapi.json"]));
  expect(new Set(paths).size).toBe(paths.length);
});

describe("every document", () => {
  test("describes every operation of its table: summary, parameters, request, responses, errors", () => {
    const gaps = families.flatMap(({ family, document }) =>
      family.routes.flatMap((route) =>
        listGaps(route, findOperation(document, family, route)).map(
          (gap) => `${route.method} ${family.prefix}${route.path}: ${gap}`,
        ),
      ),
    );
    expect(gaps).toEqual([]);
    const count = families.reduce((sum, { family }) => sum + family.routes.length, 0);
    console.log(`openapi: ${count} operations in ${families.length} documents`);
  });

  test("is OpenAPI 3.1, version 0.0.0, with a guide, without broken references, and describes nothing else", () => {
    for (const { family, document } of families) {
      const at = family.document.path;
      expect([at, document.openapi, document.info.version]).toEqual([at, "3.1.0", "0.0.0"]);
      expect([at, document.info.description?.length ?? 0]).toEqual([at, expect.any(Number)]);
      expect([at, listBrokenReferences(document)]).toEqual([at, []]);
      const schemes = Object.keys(document.components.securitySchemes);
      for (const name of document.security.flatMap(Object.keys))
        expect([at, schemes]).toEqual([at, expect.arrayContaining([name])]);
      const described = Object.values(document.paths).flatMap(Object.keys).length;
      const uploads = (family.hasUploads ? 4 : 0) + (family.hasSignedUploads ? 2 : 0);
      expect([at, described]).toEqual([at, family.routes.length + uploads]);
      const ids = Object.values(document.paths).flatMap((item) =>
        Object.values(item).map((operation) => (operation as Described).operationId),
      );
      expect([at, new Set(ids).size]).toEqual([at, ids.length]);
    }
  });

  test("has no schema that says nothing, and none that no operation uses", () => {
    for (const { family, document } of families) {
      const at = family.document.path;
      const used = JSON.stringify(document.paths);
      for (const [name, schema] of Object.entries(document.components.schemas)) {
        expect([at, name, used.includes(`"#/components/schemas/${name}"`)]).toEqual([at, name, true]);
        const says = schema.properties ?? schema.anyOf;
        expect([at, name, says !== undefined]).toEqual([at, name, true]);
      }
    }
  });
});
