/** Arrays of tables in the configuration file, such as `[[oidc]]`: their keys, readers and defaults. */

import { MAX_PRICE_AMOUNT, MAX_PRICE_CREDITS, MAX_PRICE_ID_CHARACTERS } from "../domain/billing";
import { PRICE_INTERVALS, PRICE_KINDS, type PriceInterval } from "../domain/states";
import { type CamelCase, toCamelCase } from "./camel-case";
import {
  boolean,
  ConfigError,
  currency,
  integer,
  nullable,
  oneOf,
  type Reader,
  string,
  stringList,
  text,
  url,
} from "./readers";

/** A required key has no `default`. */
type TableKey<T> = { read: Reader<T>; default?: () => T };

const required = <T>(read: Reader<T>): TableKey<T> => ({ read });
const optional = <T>(read: Reader<T>, fallback: () => NoInfer<T>): TableKey<T> => ({ read, default: fallback });

/**
 * The tables by array name. `unique` is the key whose values must differ. The environment variables
 * `OFFCUT_<ARRAY>_<KEY>` define one table, which replaces those in the file.
 */
const TABLES = {
  oidc: {
    unique: "name",
    keys: {
      name: optional(string, () => "oidc"),
      issuer: required(url),
      client_id: required(string),
      client_secret: optional(nullable(string), () => null),
      scopes: optional(stringList, () => ["openid", "email", "profile"]),
      groups_claim: optional(nullable(string), () => null),
      admin_group: optional(nullable(string), () => null),
      create_accounts: optional(boolean, () => false),
    },
  },
  price: {
    unique: "id",
    keys: {
      id: required(text(MAX_PRICE_ID_CHARACTERS)),
      name: required(text(200)),
      kind: required(oneOf(...PRICE_KINDS)),
      credits: required(integer(1, MAX_PRICE_CREDITS)),
      amount: required(integer(0, MAX_PRICE_AMOUNT)),
      currency: required(currency),
      interval: optional<PriceInterval | null>(oneOf(...PRICE_INTERVALS), () => null),
      stripe_price: optional(nullable(string), () => null),
      active: optional(boolean, () => true),
    },
  },
} as const;

type Definitions = typeof TABLES;
type TableName = keyof Definitions;
type Table<Name extends TableName> = {
  [K in keyof Definitions[Name]["keys"] as CamelCase<K & string>]: Definitions[Name]["keys"][K] extends TableKey<
    infer T
  >
    ? T
    : never;
};

/** The tables of each array, with keys in camel case: `config.oidc[0].clientId`. */
export type ConfigTables = { [Name in TableName]: Table<Name>[] };

const MAX_TABLES = 100;

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];
export const isTableName = (key: string): key is TableName => Object.hasOwn(TABLES, key);

/** Returns the array and the key that an environment variable sets, or null. `name` is lower case, without prefix. */
export function findTableVariable(name: string): { table: TableName; key: string } | null {
  for (const table of TABLE_NAMES) {
    const key = name.startsWith(`${table}_`) ? name.slice(table.length + 1) : "";
    if (Object.hasOwn(TABLES[table].keys, key)) return { table, key };
  }
  return null;
}

/** Reads the tables of an array. `origin` names their source in messages. Throws `ConfigError`. */
export function readTables(name: TableName, value: unknown, origin: string): unknown[] {
  if (!Array.isArray(value) || !value.every(isPlainTable))
    throw new ConfigError(`${origin}: ${name} must be written as [[${name}]]`);
  if (value.length > MAX_TABLES) throw new ConfigError(`${origin}: ${name} has more than ${MAX_TABLES} tables`);
  const tables = value.map((table, i) => readTable(name, table, `${origin}: ${name}[${i}]`));
  const unique = TABLES[name].unique;
  const seen = new Set<unknown>();
  for (const [i, table] of tables.entries()) {
    const own = table[toCamelCase(unique)];
    if (seen.has(own)) throw new ConfigError(`${origin}: ${name}[${i}].${unique} "${own}" is used twice`);
    seen.add(own);
  }
  return tables;
}

const isPlainTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

function readTable(name: TableName, table: Record<string, unknown>, origin: string): Record<string, unknown> {
  const keys: Record<string, TableKey<unknown>> = TABLES[name].keys;
  for (const key of Object.keys(table))
    if (!Object.hasOwn(keys, key)) throw new ConfigError(`${origin}: unknown key "${key}"`);
  return Object.fromEntries(
    Object.entries(keys).map(([key, { read, default: fallback }]) => {
      const given = Object.hasOwn(table, key);
      if (!given && !fallback) throw new ConfigError(`${origin}: ${key} is missing`);
      try {
        return [toCamelCase(key), given ? read(table[key]) : fallback?.()];
      } catch (error) {
        if (error instanceof ConfigError) throw new ConfigError(`${origin}.${key} ${error.message}`);
        throw error;
      }
    }),
  );
}
