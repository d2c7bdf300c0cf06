/** The effective settings with secrets masked. */
import { type Config, configFlags } from "../config";

export type MaskedSetting = { key: string; value: unknown };

const MASK = "***";
const SECRET_NAME = /(^|_)(secret|password|token|credential)(_|$)|_secret_key$|api_key$/;

/** Lists every setting in the order of the configuration, with the keys of the configuration file. */
export function listMaskedSettings(config: Config): MaskedSetting[] {
  return Object.keys(configFlags())
    .filter((flag) => flag !== "config")
    .map((flag) => flag.replaceAll("-", "_"))
    .map((key) => ({ key, value: maskSecret(key, (config as Record<string, unknown>)[toCamelCase(key)]) }));
}

/** Masks a value whose key names a secret, and the password in a URL. */
export function maskSecret(key: string, value: unknown): unknown {
  if (typeof value !== "string" || value === "") return value;
  if (SECRET_NAME.test(key)) return MASK;
  if (!URL.canParse(value)) return value;
  const url = new URL(value);
  if (url.password === "") return value;
  url.password = MASK;
  return url.href;
}

const toCamelCase = (key: string): string => key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
