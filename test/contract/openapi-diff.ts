/**
 * Compares two versions of an OpenAPI document. Changes on which a client of the earlier version relies are breaking.
 * Descriptions and examples may change freely.
 */
import { isDeepStrictEqual } from "node:util";
import { type Change, createSchemaComparison, type Json, withoutTexts } from "./openapi-schema-diff";

type Parameter = { name: string; in: string; required?: boolean; schema?: unknown };
type Content = Record<string, { schema?: unknown }>;
type Operation = {
  operationId?: string;
  security?: Json[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content?: Content };
  responses?: Record<string, { headers?: Record<string, { schema?: unknown }>; content?: Content }>;
};

/** The parts of a document that are compared. */
export type ComparedDocument = {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Json>; securitySchemes?: Record<string, Json> };
  security?: Json[];
};

/** Lists the changes from one version of a document to the next, breaking ones first. */
export function compareDocuments(before: ComparedDocument, after: ComparedDocument): Change[] {
  const changes: Change[] = [];
  const [schemasBefore, schemasAfter] = [before.components?.schemas ?? {}, after.components?.schemas ?? {}];
  const schemas = createSchemaComparison(schemasBefore, schemasAfter, changes);
  const add = (isBreaking: boolean, what: string) => changes.push({ kind: isBreaking ? "breaking" : "additive", what });

  function comparePaths(): void {
    const [from, to] = [before.paths ?? {}, after.paths ?? {}];
    for (const [path, methods] of Object.entries(from)) {
      const now = to[path];
      if (!now) {
        add(true, `${path}: path removed`);
        continue;
      }
      for (const [method, operation] of Object.entries(methods)) {
        const call = `${method.toUpperCase()} ${path}`;
        if (now[method]) compareOperations(call, operation, now[method]);
        else add(true, `${call}: method removed`);
      }
    }
    for (const [path, methods] of Object.entries(to)) {
      for (const method of Object.keys(methods)) {
        if (!from[path]?.[method]) add(false, `${method.toUpperCase()} ${path}: added`);
      }
    }
  }

  function compareOperations(call: string, old: Operation, now: Operation): void {
    if (old.operationId !== now.operationId) {
      add(true, `${call}: operation ID changed from ${old.operationId} to ${now.operationId}`);
    }
    compareSecurity(call, old.security ?? before.security ?? [], now.security ?? after.security ?? []);
    compareParameters(call, old.parameters ?? [], now.parameters ?? []);
    compareRequestBodies(call, old.requestBody, now.requestBody);
    compareResponses(call, old.responses ?? {}, now.responses ?? {});
  }

  /** An empty list of schemes means that no authentication is required. */
  function compareSecurity(call: string, old: Json[], now: Json[]): void {
    const [from, to] = [old, now].map((list) => list.map((one) => Object.keys(one).join(" and ")));
    if (from!.length === 0 && to!.length > 0) return void add(true, `${call}: needs authentication`);
    if (from!.length > 0 && to!.length === 0) return void add(false, `${call}: needs no authentication`);
    for (const scheme of from!) if (!to!.includes(scheme)) add(true, `${call}: authentication ${scheme} removed`);
    for (const scheme of to!) if (!from!.includes(scheme)) add(false, `${call}: authentication ${scheme} added`);
  }

  function compareParameters(call: string, old: Parameter[], now: Parameter[]): void {
    const find = (list: Parameter[], one: Parameter) =>
      list.find((other) => other.in === one.in && other.name === one.name);
    for (const one of old) {
      const head = `${call} ${one.in} ${one.name}`;
      const mate = find(now, one);
      if (!mate) {
        add(true, `${head}: parameter removed`);
        continue;
      }
      if (!one.required && mate.required) add(true, `${head}: is now required`);
      if (one.required && !mate.required) add(false, `${head}: is now optional`);
      schemas.compare(one.schema, mate.schema, { direction: "request", head, path: "" });
    }
    for (const one of now) {
      if (find(old, one)) continue;
      add(one.required === true, `${call} ${one.in} ${one.name}: ${one.required ? "required " : ""}parameter added`);
    }
  }

  function compareRequestBodies(call: string, old: Operation["requestBody"], now: Operation["requestBody"]): void {
    if (!old && !now) return;
    if (!old) return void add(now!.required === true, `${call}: request body added`);
    if (!now) return void add(true, `${call}: request body removed`);
    if (!old.required && now.required) add(true, `${call}: request body is now required`);
    if (old.required && !now.required) add(false, `${call}: request body is now optional`);
    compareContents(`${call} request`, "request", old.content ?? {}, now.content ?? {});
  }

  function compareContents(head: string, direction: "request" | "response", old: Content, now: Content): void {
    for (const [type, { schema }] of Object.entries(old)) {
      if (now[type]) schemas.compare(schema, now[type].schema, { direction, head, path: "" });
      else add(true, `${head}: content type ${type} removed`);
    }
    for (const type of Object.keys(now)) if (!old[type]) add(false, `${head}: content type ${type} added`);
  }

  function compareResponses(call: string, old: NonNullable<Operation["responses"]>, now: typeof old): void {
    for (const [status, response] of Object.entries(old)) {
      const mate = now[status];
      const head = `${call} ${status}`;
      if (!mate) {
        add(status < "400", `${head}: response removed`);
        continue;
      }
      compareContents(head, "response", response.content ?? {}, mate.content ?? {});
      const [from, to] = [response.headers ?? {}, mate.headers ?? {}];
      for (const [name, header] of Object.entries(from)) {
        if (!to[name]) add(true, `${head} header ${name}: removed`);
        else
          schemas.compare(header.schema, to[name].schema, {
            direction: "response",
            head: `${head} header`,
            path: name,
          });
      }
      for (const name of Object.keys(to)) if (!from[name]) add(false, `${head} header ${name}: added`);
    }
    for (const status of Object.keys(now)) if (!old[status]) add(false, `${call} ${status}: response added`);
  }

  function compareComponents(): void {
    for (const name of Object.keys(schemasBefore)) if (!schemasAfter[name]) add(true, `schema ${name}: removed`);
    for (const name of Object.keys(schemasAfter)) if (!schemasBefore[name]) add(false, `schema ${name}: added`);
    const [from, to] = [before.components?.securitySchemes ?? {}, after.components?.securitySchemes ?? {}];
    for (const [name, scheme] of Object.entries(from)) {
      if (!isDeepStrictEqual(withoutTexts(scheme), withoutTexts(to[name]))) {
        add(true, `authentication ${name}: ${to[name] ? "changed" : "removed"}`);
      }
    }
    for (const name of Object.keys(to)) if (!from[name]) add(false, `authentication ${name}: added`);
  }

  comparePaths();
  compareComponents();
  if (changes.length === 0 && !isDeepStrictEqual(withoutTexts(before), withoutTexts(after))) {
    add(false, "something else than texts changed, without a name in this comparison");
  }
  return [...changes.filter(({ kind }) => kind === "breaking"), ...changes.filter(({ kind }) => kind === "additive")];
}
