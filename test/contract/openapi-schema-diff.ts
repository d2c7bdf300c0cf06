/**
 * Compares two JSON schemas of an OpenAPI document. In a request it is breaking to accept less than before. In a
 * response, sending anything other than promised is breaking. New properties, enum values and types of a tagged union
 * are not, because clients must ignore unknown ones.
 */
import { isDeepStrictEqual } from "node:util";

export type Change = { kind: "breaking" | "additive"; what: string };
export type Json = Record<string, unknown>;
type Direction = "request" | "response";
type Schemas = Record<string, Json>;

/** `path` names a place in words: `POST /v1/cuts request: options.mode`. */
type Place = { direction: Direction; head: string; path: string };

/** Each keyword with the direction in which it becomes stricter: 1 for lower values, -1 for higher ones. */
const BOUNDS: Record<string, 1 | -1> = {
  maxLength: 1,
  maximum: 1,
  exclusiveMaximum: 1,
  maxItems: 1,
  maxProperties: 1,
  minLength: -1,
  minimum: -1,
  exclusiveMinimum: -1,
  minItems: -1,
  minProperties: -1,
};

/** Keywords that allow exactly one form. */
const FORMS = ["format", "pattern", "multipleOf", "uniqueItems"];

const COMPARED = [
  ...Object.keys(BOUNDS),
  ...FORMS,
  ..."$ref anyOf type enum const default properties patternProperties required additionalProperties items".split(" "),
];
const TEXTS = ["description", "title", "example", "examples"];

/** Names of maps whose keys are names rather than keywords. */
const NAME_MAPS = new Set(["properties", "patternProperties", "schemas", "paths", "responses", "headers", "content"]);

/** Returns a part of a document without descriptions and examples, with the keys in order. */
export function withoutTexts(value: unknown, holdsNames = false): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutTexts(one));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => holdsNames || ![...TEXTS, "summary", "tags"].includes(key));
  return Object.fromEntries(
    kept
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, withoutTexts(inner, !holdsNames && NAME_MAPS.has(key))]),
  );
}

export type SchemaComparison = {
  /** Compares two schemas and adds the differences to the changes. */
  compare(before: unknown, after: unknown, place: Place): void;
};

/** Creates a comparison. A schema that both documents refer to by the same name is compared once for each direction. */
export function createSchemaComparison(before: Schemas, after: Schemas, changes: Change[]): SchemaComparison {
  const compared = new Set<string>();
  // Schemas may contain themselves.
  const inRequests = new WeakMap<Json, Json>();
  const inResponses = new WeakMap<Json, Json>();

  function add(isBreaking: boolean, { head, path }: Place, what: string): void {
    const change: Change = {
      kind: isBreaking ? "breaking" : "additive",
      what: `${head}${path && ` ${path}`}: ${what}`,
    };
    if (!changes.some((one) => one.what === change.what)) changes.push(change);
  }

  function compare(old: unknown, now: unknown, place: Place): void {
    const [from, to] = [(old ?? {}) as Json, (now ?? {}) as Json];
    const name = findReference(from);
    if (name !== null && name === findReference(to)) {
      const key = `${place.direction} ${name}`;
      if (compared.has(key)) return;
      compared.add(key);
      const head = `schema ${name}${place.direction === "request" ? " in requests" : ""}`;
      compareVariants(before[name] ?? {}, after[name] ?? {}, { direction: place.direction, head, path: "" });
    } else compareVariants(from, to, place);
  }

  function compareVariants(old: Json, now: Json, place: Place): void {
    const removed = listVariants(old, before);
    const added = listVariants(now, after);
    for (const isMate of [isSameVariant, isSameTag, isSameType]) {
      for (const variant of [...removed]) {
        const mate = added.find((one) => isMate(variant, one));
        if (!mate) continue;
        removed.splice(removed.indexOf(variant), 1);
        added.splice(added.indexOf(mate), 1);
        compareVariant(variant, mate, place);
      }
    }
    const isRequest = place.direction === "request";
    const objects = listVariants(old, before).filter((variant) => readType(variant) === "object");
    const wasTagged = objects.length > 0 && objects.every((variant) => readTag(variant) !== null);
    if (!isRequest && wasTagged) {
      for (const variant of added.filter((one) => readTag(one) !== null)) {
        added.splice(added.indexOf(variant), 1);
        add(false, place, `variant ${show(readTag(variant))} added`);
      }
    }
    const gone = removed.map(readType);
    const come = added.map(readType);
    // An unrestricted request still accepts everything that it accepted, and an unrestricted response promised nothing.
    const isHarmless = isRequest ? come.includes("any") : gone.includes("any");
    if (gone.length > 0 && come.length > 0) {
      add(!isHarmless, place, `type changed from ${gone.join(" or ")} to ${come.join(" or ")}`);
    } else if (gone.length > 0) add(isRequest, place, `type ${gone.join(" or ")} removed`);
    else if (come.length > 0) add(!isRequest, place, `type ${come.join(" or ")} added`);
  }

  function compareVariant(old: Json, now: Json, place: Place): void {
    const done = place.direction === "request" ? inRequests : inResponses;
    if (done.get(old) === now) return;
    done.set(old, now);
    compareValues(old, now, place);
    compareBounds(old, now, place);
    if ("default" in old && !isDeepStrictEqual(old.default, now.default)) {
      add(true, place, `default changed from ${show(old.default)} to ${show(now.default)}`);
    } else if ("default" in now && !("default" in old)) add(false, place, `default ${show(now.default)} added`);
    if (readType(old) === "object") compareProperties(old, now, place);
    if (old.items || now.items) compare(old.items, now.items, { ...place, path: `${place.path}[]` });
    for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
      if (COMPARED.includes(keyword) || TEXTS.includes(keyword)) continue;
      const isSame = isDeepStrictEqual(withoutTexts(old[keyword]), withoutTexts(now[keyword]));
      if (!isSame) add(true, place, `${keyword} changed from ${show(old[keyword])} to ${show(now[keyword])}`);
    }
  }

  function compareValues(old: Json, now: Json, place: Place): void {
    const [from, to] = [readValues(old), readValues(now)];
    const isRequest = place.direction === "request";
    if (from === null && to === null) return;
    if (from === null || to === null) {
      if (to !== null) add(isRequest, place, `limited to the values ${to.map(show).join(", ")}`);
      else add(!isRequest, place, "may have any value");
      return;
    }
    for (const value of from.filter((one) => !to.includes(one))) add(isRequest, place, `value ${show(value)} removed`);
    for (const value of to.filter((one) => !from.includes(one))) add(false, place, `value ${show(value)} added`);
  }

  function compareBounds(old: Json, now: Json, place: Place): void {
    const isRequest = place.direction === "request";
    for (const [keyword, sign] of Object.entries(BOUNDS)) {
      const none = sign * Number.POSITIVE_INFINITY;
      const [from, to] = [Number(old[keyword] ?? none), Number(now[keyword] ?? none)];
      if (from === to) continue;
      const isStricter = sign * (to - from) < 0;
      add(isStricter === isRequest, place, `${keyword} changed from ${show(old[keyword])} to ${show(now[keyword])}`);
    }
    for (const keyword of FORMS) {
      // The pattern of an enum repeats its values.
      if (keyword === "pattern" && (old.enum || now.enum)) continue;
      const [from, to] = [old[keyword], now[keyword]];
      if (from === to) continue;
      const isStricter = from === undefined;
      const isLooser = to === undefined;
      const isBreaking = isRequest ? !isLooser : !isStricter;
      add(isBreaking, place, `${keyword} changed from ${show(from)} to ${show(to)}`);
    }
  }

  function compareProperties(old: Json, now: Json, place: Place): void {
    const [from, to] = [readProperties(old), readProperties(now)];
    const isRequest = place.direction === "request";
    const wasRequired = new Set((old.required as string[] | undefined) ?? []);
    const isRequired = new Set((now.required as string[] | undefined) ?? []);
    for (const [name, schema] of Object.entries(from)) {
      const here = { ...place, path: place.path ? `${place.path}.${name}` : name };
      if (!(name in to)) {
        add(true, here, "property removed");
        continue;
      }
      if (!wasRequired.has(name) && isRequired.has(name)) add(isRequest, here, "is now required");
      if (wasRequired.has(name) && !isRequired.has(name)) add(!isRequest, here, "is now optional");
      compare(schema, to[name], here);
    }
    for (const name of Object.keys(to)) {
      if (name in from) continue;
      const here = { ...place, path: place.path ? `${place.path}.${name}` : name };
      const isNeeded = isRequest && isRequired.has(name);
      add(isNeeded, here, isNeeded ? "required property added" : "property added");
    }
    const [wasOpen, isOpen] = [old.additionalProperties !== false, now.additionalProperties !== false];
    if (wasOpen !== isOpen) {
      add(isRequest && wasOpen, place, `other properties are ${isOpen ? "allowed" : "refused"}`);
    }
  }

  return { compare };
}

const show = (value: unknown): string => (value === undefined ? "none" : JSON.stringify(value));

function findReference(schema: Json): string | null {
  return typeof schema.$ref === "string" ? schema.$ref.slice("#/components/schemas/".length) : null;
}

/** Lists the alternatives of a schema, each with at most one type. */
function listVariants(schema: Json, schemas: Schemas): Json[] {
  const name = findReference(schema);
  if (name !== null) return listVariants(schemas[name] ?? {}, schemas);
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap((one: Json) => listVariants(one, schemas));
  if (!Array.isArray(schema.type)) return [schema];
  return schema.type.map((type: string) => (type === "null" ? { type } : { ...schema, type }));
}

function readType(schema: Json): string {
  if (typeof schema.type === "string") return schema.type;
  const values = readValues(schema);
  return values === null ? "any" : values[0] === null ? "null" : typeof values[0];
}

const isSameVariant = (a: Json, b: Json): boolean => isDeepStrictEqual(withoutTexts(a), withoutTexts(b));
const isSameTag = (a: Json, b: Json): boolean => readTag(a) !== null && readTag(a) === readTag(b);
// Two tagged variants are different things, such as notifications of two types.
const isSameType = (a: Json, b: Json): boolean =>
  readType(a) === readType(b) && (readTag(a) === null || readTag(b) === null);

/** Returns the constant `type` of an object, which distinguishes the variants of a union; null without one. */
function readTag(schema: Json): unknown {
  return (schema.properties as Record<string, Json> | undefined)?.type?.const ?? null;
}

function readValues(schema: Json): unknown[] | null {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : null;
}

const readProperties = (schema: Json): Record<string, unknown> => ({
  ...(schema.properties as Json | undefined),
  ...(schema.patternProperties as Json | undefined),
});
