/** The settings as text: in the help, and the effective ones with secrets masked. */
import type { Config } from "../config";
import { toCamelCase } from "../config/camel-case";
import { SETTINGS } from "../config/settings";
import { TABLE_NAMES } from "../config/tables";
import { maskUrlPassword } from "../speech/models/fetch-file";

/** Only `offcut worker` reads them. */
const WORKER_SETTINGS = ["head", "token", "redis", "jobs", "slots", "cache_bytes"];

/** Returns a line for each server setting: its flag, its description and its default on this machine. */
export function formatSettingsHelp(): string {
  const settings = Object.entries(SETTINGS).filter(([key]) => !WORKER_SETTINGS.includes(key));
  const width = Math.max(...settings.map(([key]) => key.length));
  const lines = settings.map(([key, setting]) => {
    const value = setting.default();
    const isShown = value !== null && !Array.isArray(value);
    return `  --${key.replaceAll("_", "-").padEnd(width)}  ${setting.about}${isShown ? ` (default ${value})` : ""}`;
  });
  return `${lines.join("\n")}\n`;
}

/** `key` is that of the configuration file. */
export type ListedSetting = { key: string; value: unknown };

/** Lists every setting with its effective value, without the arrays of tables. */
export const listSettings = (config: Config): ListedSetting[] =>
  Object.keys(SETTINGS).map((key) => ({ key, value: (config as Record<string, unknown>)[toCamelCase(key)] }));

const MASK = "***";
const SECRET_NAME = /(^|_)(secret|password|token|credential)(_|$)|_secret_key$|(api|backup)_key$/;

/** Lists every setting in configuration order with secrets masked, followed by the arrays of tables. */
export const listMaskedSettings = (config: Config): ListedSetting[] => [
  ...listSettings(config).map(({ key, value }) => ({ key, value: maskSecret(key, value) })),
  ...TABLE_NAMES.map((key) => ({ key, value: config[key].map(maskTable) })),
];

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
  return maskUrlPassword(value);
}
