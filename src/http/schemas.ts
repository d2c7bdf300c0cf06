/** The schemas of all resources, by their names in the OpenAPI documents. */
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { type CamelCase, toCamelCase } from "../config/camel-case";
import { ADMIN_SCHEMAS } from "./dashboard/admin/schemas";
import { WORKER_SCHEMAS } from "./dashboard/admin/worker-schemas";
import { BILLING_SCHEMAS } from "./dashboard/billing-schemas";
import { LIBRARY_SCHEMAS } from "./dashboard/library-schemas";
import { DASHBOARD_SCHEMAS } from "./dashboard/schemas";
import { KEY_SCHEMAS } from "./keys/schemas";
import { PUBLIC_SCHEMAS } from "./public/schemas";

export const SCHEMAS = {
  ...PUBLIC_SCHEMAS,
  ...DASHBOARD_SCHEMAS,
  ...LIBRARY_SCHEMAS,
  ...ADMIN_SCHEMAS,
  ...WORKER_SCHEMAS,
  ...BILLING_SCHEMAS,
  ...KEY_SCHEMAS,
};

export type SchemaName = keyof typeof SCHEMAS;

export type Resource<Name extends SchemaName> = Static<(typeof SCHEMAS)[Name]>;

export function formatTime(ms: number): string;
export function formatTime(ms: number | null): string | null;
/** Formats milliseconds since 1970 as ISO 8601 in UTC with milliseconds; null stays null. */
export function formatTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

type RequiredKey<Shown> = { [K in keyof Shown]-?: object extends Pick<Shown, K> ? never : K }[keyof Shown];

type TimeText<Value> = Value extends number ? string : Value;

/** A number that the schema has as text is a time. */
type ShownValue<Value, Field> = [Value, Field] extends [number | null, string | null] ? TimeText<Value> : Value;

/**
 * Type of a row's value for a field, whose name may be in snake case or camel case. It is `symbol`, which no field has,
 * for a field that the row lacks.
 */
type RowValue<Row, Name extends string> = Name extends keyof Row
  ? Row[Name]
  : CamelCase<Name> extends keyof Row
    ? Row[CamelCase<Name>]
    : symbol;

/** The fields that a row has in the form of the schema. Optional fields of a resource are never taken from a row. */
type RowKey<Shown, Row> = {
  [K in RequiredKey<Shown> & string]: ShownValue<RowValue<Row, K>, Shown[K]> extends Shown[K] ? K : never;
}[RequiredKey<Shown> & string];

type ComputedFields<Shown, Row> = Omit<Shown, RowKey<Shown, Row>> & Partial<Pick<Shown, RowKey<Shown, Row>>>;

/**
 * Returns the resource of a row. `computed` has the fields that the row lacks or that differ from it. Times become ISO
 * 8601.
 */
export function showRow<Schema extends TObject, Row extends object>(
  schema: Schema,
  row: Row,
  computed: ComputedFields<Static<Schema>, Row>,
): Static<Schema> {
  const shown: Record<string, unknown> = {};
  const values = row as Record<string, unknown>;
  for (const { name, camelCase, isTime } of listRequiredFields(schema)) {
    const value = name in values ? values[name] : values[camelCase];
    shown[name] = isTime && typeof value === "number" ? formatTime(value) : value;
  }
  return Object.assign(shown, computed) as Static<Schema>;
}

type Field = { name: string; camelCase: string; isTime: boolean };

const requiredFields = new WeakMap<TObject, Field[]>();

function listRequiredFields(schema: TObject): Field[] {
  const known = requiredFields.get(schema);
  if (known) return known;
  const fields = (schema.required ?? []).map((name) => ({
    name,
    camelCase: toCamelCase(name),
    isTime: isTime(schema.properties[name]!),
  }));
  requiredFields.set(schema, fields);
  return fields;
}

const isTime = ({ format, anyOf }: TSchema): boolean =>
  format === "date-time" || (anyOf as TSchema[] | undefined)?.some(isTime) === true;
