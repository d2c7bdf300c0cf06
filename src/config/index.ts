/**
 * Settings from defaults, a TOML file, `OFFCUT_*` environment variables and flags. The later source wins. They are read
 * once at the start. An unknown key or an invalid value is a `ConfigError` with a one-line message that names it.
 */

import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { parse, TomlError } from "smol-toml";
import { toCamelCase } from "./camel-case";
import { ConfigError } from "./readers";
import { type Config, SETTINGS, type Setting, type SettingsTable } from "./settings";
import { findTableVariable, isTableName, readTables, TABLE_NAMES } from "./tables";

export { ConfigError } from "./readers";
export type { Config } from "./settings";

export type ConfigSources = {
  file?: string | null;
  env: Record<string, string | undefined>;
  flags: Record<string, string | boolean>;
};

/** Returns the options of `parseArgs` for all settings. */
export const configFlags = (): Record<string, { type: "string" }> =>
  Object.fromEntries(
    [...Object.keys(SETTINGS), "config"].map((key) => [key.replaceAll("_", "-"), { type: "string" as const }]),
  );

const DEFAULT_FILE = "/etc/offcut/offcut.toml";

/** Loads the settings. `flags` are keyed as on the command line; others are ignored. Throws `ConfigError`. */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const values: Record<string, unknown> = {};
  for (const [key, s] of Object.entries(SETTINGS)) values[key] = s.default();
  for (const name of TABLE_NAMES) values[name] = [];
  const apply = (key: string, value: unknown, origin: string) => {
    if (isTableName(key)) {
      values[key] = readTables(key, value, origin);
      return;
    }
    const s = Object.hasOwn(SETTINGS, key) ? (SETTINGS[key as keyof SettingsTable] as Setting<unknown>) : null;
    if (!s) throw new ConfigError(`${origin}: unknown setting "${key}"`);
    try {
      values[key] = s.read(value);
    } catch (error) {
      if (error instanceof ConfigError) throw new ConfigError(`${origin}: ${key} ${error.message}`);
      throw error;
    }
  };

  const named = (sources.flags.config as string | undefined) ?? sources.file ?? null;
  const path = named ?? DEFAULT_FILE;
  const file = Bun.file(path);
  if (await file.exists()) {
    for (const [key, value] of Object.entries(parseToml(await readText(file, path), path))) apply(key, value, path);
  } else if (named) throw new ConfigError(`${named}: configuration file not found`);

  applyEnvironment(sources.env, apply);
  for (const [name, value] of Object.entries(sources.flags)) {
    const key = name.replaceAll("-", "_");
    if (Object.hasOwn(SETTINGS, key)) apply(key, value, `--${name}`);
  }
  if ((values.tls_cert === null) !== (values.tls_key === null))
    throw new ConfigError("tls_cert and tls_key must be set together");
  const config = Object.fromEntries(Object.entries(values).map(([key, value]) => [toCamelCase(key), value])) as Config;
  requireCompleteBilling(config);
  requireWorkersForLocalZero(config);
  return config;
}

async function readText(file: Bun.BunFile, path: string): Promise<string> {
  try {
    return await file.text();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error;
    throw new ConfigError(
      `${path}: permission denied. Run offcut as the service's user, or name another file with --config.`,
    );
  }
}

/** Without Redis, there are no workers, so a job without slots on this machine would never run. */
function requireWorkersForLocalZero({ redisUrl, renderJobs, prepareJobs, cutJobs }: Config): void {
  if (redisUrl !== null) return;
  const slots = { render_jobs: renderJobs, prepare_jobs: prepareJobs, cut_jobs: cutJobs };
  for (const [key, jobs] of Object.entries(slots))
    if (jobs === 0) throw new ConfigError(`${key} can be 0 only with redis_url, which lets workers run the jobs`);
}

function requireCompleteBilling({ price: prices, stripeSecretKey, stripeWebhookSecret }: Config): void {
  if ((stripeSecretKey === null) !== (stripeWebhookSecret === null))
    throw new ConfigError("stripe_secret_key and stripe_webhook_secret must be set together");
  for (const { id, kind, interval, stripePrice } of prices) {
    const name = `price ${JSON.stringify(id)}`;
    if (kind === "subscription" && interval === null)
      throw new ConfigError(`${name}: a subscription needs an interval, month or year`);
    if (kind === "pack" && interval !== null)
      throw new ConfigError(`${name}: interval is only for kind = "subscription"`);
    if (stripeSecretKey !== null && stripePrice === null)
      throw new ConfigError(`${name}: stripe_price is missing, which stripe_secret_key requires`);
  }
}

const ENVIRONMENT_PREFIX = "OFFCUT_";

function applyEnvironment(
  env: ConfigSources["env"],
  apply: (key: string, value: unknown, origin: string) => void,
): void {
  const tables = new Map<string, Record<string, unknown>>();
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(ENVIRONMENT_PREFIX) || value === undefined) continue;
    const key = name.slice(ENVIRONMENT_PREFIX.length).toLowerCase();
    const variable = findTableVariable(key);
    if (variable) tables.set(variable.table, { ...tables.get(variable.table), [variable.key]: value });
    else if (isTableName(key))
      throw new ConfigError(`${name}: set ${name}_… for one ${key}, or write [[${key}]] in the file`);
    else apply(key, value, name);
  }
  for (const [table, given] of tables) apply(table, [given], `${ENVIRONMENT_PREFIX}${table.toUpperCase()}_*`);
}

function parseToml(source: string, path: string): Record<string, unknown> {
  try {
    return parse(source) as Record<string, unknown>;
  } catch (error) {
    // The message quotes the file after its first line.
    const [message] = (error as Error).message.split("\n");
    throw new ConfigError(
      error instanceof TomlError ? `${path}: line ${error.line}: ${message}` : `${path}: ${message}`,
    );
  }
}

/** Returns the URL of the server for links, from the setting or from the listening address. */
export function publicUrl(config: Config, port: number): string {
  if (config.publicUrl) return config.publicUrl;
  const host = config.host === "0.0.0.0" || config.host === "::" ? "localhost" : config.host;
  return `${config.tlsCert ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Returns whether a host name or an address (also from a URL) is this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);

/** Returns whether other machines reach the server without TLS. Trusted proxies are assumed to terminate TLS. */
export function isExposedWithoutTls(config: Pick<Config, "host" | "tlsCert" | "trustedProxies">): boolean {
  return !isLoopback(config.host) && config.tlsCert === null && config.trustedProxies.length === 0;
}

/** Returns the sender of mails: the setting, or an address at the host of the server's URL. */
export function getMailSender(config: Pick<Config, "mailFrom">, serverUrl: string): string {
  const { hostname } = new URL(serverUrl);
  const ipv6 = /^\[(.+)\]$/.exec(hostname)?.[1];
  const domain = ipv6 === undefined ? hostname : `IPv6:${ipv6}`;
  return config.mailFrom ?? `noreply@${isIP(ipv6 ?? hostname) === 0 ? domain : `[${domain}]`}`;
}

/** Returns the PEM text of the file; null if `path` is null. Throws `ConfigError` if it contains no certificate. */
export async function readCertificate(path: string | null): Promise<string | null> {
  if (path === null) return null;
  try {
    const text = await readFile(path, "utf8");
    // An invalid certificate would make every connection fail without an explanation.
    new X509Certificate(text);
    return text;
  } catch (error) {
    throw new ConfigError(`Cannot read the certificate of ca: ${(error as Error).message}`);
  }
}
