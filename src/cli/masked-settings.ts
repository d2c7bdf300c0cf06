/** The effective settings with secrets masked. */
import { type Config, configFlags } from "../config";
import { toCamelCase } from "../config/camel-case";
import { TABLE_NAMES } from "../config/tables";

export type MaskedSetting = { key: string; value: unknown };

const MASK = "***";
const SECRET_NAME = /(^|_)(secret|password|token|credential)(_|$)|_secret_key$|(api|backup)_key$/;

/** Lists every setting in configuration order, with the keys of the file, followed by the arrays of tables. */
export function listMaskedSettings(config: Config): MaskedSetting[] {
  const settings = Object.keys(configFlags())
    .filter((flag) => flag !== "config")
    .map((flag) => flag.replaceAll("-", "_"))
    .map((key) => ({ key, value: maskSecret(key, (config as Record<string, unknown>)[toCamelCase(key)]) }));
  return [...settings, ...TABLE_NAMES.map((key) => ({ key, value: config[key].map(maskTable) }))];
}

const maskTable = (table: object) =>
  Object.fromEntries(
    Object.entries(table).map(([name, value]) => {
      const key = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return [key, maskSecret(key, value)];
    }),
  );

/** Masks values of secret keys, and passwords in URLs. */
export function maskSecret(key: string, value: unknown): unknown {
  if (typeof value !== "string" || value === "") return value;
  if (SECRET_NAME.test(key)) return MASK;
  if (!URL.canParse(value)) return value;
  const url = new URL(value);
  if (url.password === "") return value;
  url.password = MASK;
  return url.href;
}
