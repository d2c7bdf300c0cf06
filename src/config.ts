/**
 * Settings from defaults, a TOML file, `OFFCUT_*` environment variables and flags. The later source wins. They are read once at the start.
 * An unknown key or an invalid value is a `ConfigError` with a one-line message that names it.
 */

import { isIP } from "node:net";
import { availableParallelism, homedir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";

export class ConfigError extends Error {}

type Reader<T> = (value: unknown) => T;
type Setting<T> = { read: Reader<T>; default: () => T; secret?: true; about: string };

const fail = (what: string): never => {
  throw new ConfigError(what);
};
const string: Reader<string> = (v) => (typeof v === "string" && v !== "" ? v : fail("must be a non-empty string"));
const optionalString: Reader<string | null> = (v) => (v === "" ? null : string(v));
const integer =
  (min: number, max = Number.MAX_SAFE_INTEGER): Reader<number> =>
  (v) => {
    const n = typeof v === "string" && /^-?\d+$/.test(v.trim()) ? Number(v) : v;
    return typeof n === "number" && Number.isSafeInteger(n) && n >= min && n <= max
      ? n
      : fail(`must be an integer from ${min} to ${max}`);
  };
const boolean: Reader<boolean> = (v) => {
  if (v === true || v === "true" || v === "1") return true;
  if (v === false || v === "false" || v === "0") return false;
  return fail("must be true or false");
};
const stringList: Reader<string[]> = (v) => {
  if (Array.isArray(v) && v.every((x) => typeof x === "string")) return v;
  if (typeof v === "string")
    return v
      .split(",")
      .map((x) => x.trim())
      .filter(Boolean);
  return fail("must be a list of strings");
};
const oneOf =
  <T extends string>(...values: readonly T[]): Reader<T> =>
  (v) =>
    values.find((value) => value === v) ?? fail(`must be one of ${values.join(", ")}`);
const url: Reader<string | null> = (v) => {
  const value = optionalString(v);
  if (value === null) return null;
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) fail("must be an http or https URL");
  return value.replace(/\/+$/, "");
};

const dnsServers: Reader<string[]> = (v) =>
  stringList(v).map((server) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^[\]]+?))(?::(\d{1,5}))?$/.exec(server) ?? [];
    // An IPv6 address without brackets: its last group looks like a port.
    if (isIP(server) !== 0) return server;
    if (isIP(bracketed ?? "") !== 6 && isIP(plain ?? "") !== 4)
      fail("must be IP addresses, each optionally followed by :PORT");
    if (port !== undefined && (Number(port) < 1 || Number(port) > 65535)) fail("must have ports from 1 to 65535");
    return server;
  });

const setting = <T>(read: Reader<T>, fallback: () => T, about: string): Setting<T> => ({
  read,
  default: fallback,
  about,
});

/** All settings by their key in the file. The flag has hyphens; the environment variable is `OFFCUT_` and the key in capitals. */
const SETTINGS = {
  data_dir: setting(string, () => join(homedir(), ".local/share/offcut"), "folder for the database and all files"),
  host: setting(string, () => "127.0.0.1", "address to listen on"),
  port: setting(integer(0, 65535), () => 4700, "port to listen on; 0 selects a free one"),
  public_url: setting(url, () => null as string | null, "URL of this server in links; default from host and port"),
  tls_cert: setting(optionalString, () => null as string | null, "PEM file of the TLS certificate"),
  tls_key: setting(optionalString, () => null as string | null, "PEM file of the TLS key"),
  trusted_proxies: setting(
    stringList,
    () => [] as string[],
    "addresses of proxies whose X-Forwarded-* headers are trusted",
  ),
  cors_origins: setting(stringList, () => [] as string[], "origins allowed to call the API from a browser"),
  ffmpeg: setting(
    optionalString,
    () => null as string | null,
    "path of ffmpeg; default from PATH, else the bundled one",
  ),
  encoder: setting(optionalString, () => null as string | null, "video encoder; default the best one that works"),
  sandbox: setting(
    oneOf("auto", "require", "off"),
    () => "auto" as const,
    "isolation of media processes: auto, require (does not start without bwrap) or off",
  ),
  request_timeout_seconds: setting(
    integer(1, 240),
    () => 30,
    "time limit for the headers and the JSON body of a request",
  ),
  rate_limit: setting(integer(0), () => 600, "requests per minute and user; 0 disables the limit"),
  signup_credits: setting(integer(0), () => 6000, "credits of a new account"),
  credits_per_minute: setting(integer(0), () => 1, "credits per started minute of a recording"),
  max_upload_bytes: setting(integer(64), () => 100 * 1024 ** 3, "maximum size of an upload"),
  max_uploads: setting(integer(1), () => 10, "unfinished uploads per user"),
  storage_quota_bytes: setting(
    integer(0),
    () => 0,
    "storage per user: sources, derivatives and renders; 0 disables the limit",
  ),
  disk_reserve_bytes: setting(
    integer(0),
    () => 2 * 1024 ** 3,
    "free space below which uploads and renders are refused",
  ),
  max_duration_seconds: setting(integer(1), () => 24 * 3600, "maximum duration of a recording"),
  max_side_pixels: setting(integer(16), () => 8192, "maximum width or height of video"),
  max_streams: setting(integer(1), () => 64, "maximum number of streams in a file"),
  render_jobs: setting(integer(1, 256), () => Math.max(1, availableParallelism() >> 1), "concurrent renders"),
  prepare_jobs: setting(integer(1, 256), () => 2, "concurrent preparations"),
  webhooks_allow_private: setting(boolean, () => false, "allow webhooks to private addresses"),
  webhooks_allow_loopback: setting(boolean, () => false, "allow webhooks to this machine"),
  dns_servers: setting(dnsServers, () => [] as string[], "DNS servers for webhook host names; default from the system"),
  models_url: setting(url, () => null as string | null, "mirror for speech models; default their publishers"),
  speech_idle_seconds: setting(integer(1), () => 300, "idle time after which the speech worker exits"),
} as const;

type SettingsTable = typeof SETTINGS;
type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;

/** The effective settings, in camel case: `config.dataDir`, `config.maxUploadBytes`, … */
export type Config = { [K in keyof SettingsTable as Camel<K>]: ReturnType<SettingsTable[K]["read"]> };

const camel = (key: string) => key.replace(/_(.)/g, (_, c: string) => c.toUpperCase());

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

/**
 * Reads the settings. `flags` are keyed as on the command line (`data-dir`); flags that are not settings are ignored. Throws `ConfigError`.
 */
export async function loadConfig(sources: ConfigSources): Promise<Config> {
  const values: Record<string, unknown> = {};
  for (const [key, s] of Object.entries(SETTINGS)) values[key] = s.default();
  const apply = (key: string, value: unknown, origin: string) => {
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
  const file = Bun.file(named ?? DEFAULT_FILE);
  if (await file.exists()) {
    for (const [key, value] of Object.entries(parseToml(await file.text(), file.name ?? "")))
      apply(key, value, file.name ?? "");
  } else if (named) throw new ConfigError(`${named}: configuration file not found`);

  for (const [name, value] of Object.entries(sources.env)) {
    if (name.startsWith("OFFCUT_") && value !== undefined) apply(name.slice(7).toLowerCase(), value, name);
  }
  for (const [name, value] of Object.entries(sources.flags)) {
    const key = name.replaceAll("-", "_");
    if (Object.hasOwn(SETTINGS, key)) apply(key, value, `--${name}`);
  }
  if ((values.tls_cert === null) !== (values.tls_key === null))
    throw new ConfigError("tls_cert and tls_key must be set together");
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [camel(key), value])) as Config;
}

function parseToml(source: string, path: string): Record<string, unknown> {
  try {
    return parse(source) as Record<string, unknown>;
  } catch (error) {
    throw new ConfigError(`${path}: ${(error as Error).message.split("\n")[0]}`);
  }
}

/** Returns the URL of the server in links, from the setting or from the listening address. */
export function publicUrl(config: Config, port: number): string {
  if (config.publicUrl) return config.publicUrl;
  const host = config.host === "0.0.0.0" || config.host === "::" ? "localhost" : config.host;
  return `${config.tlsCert ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Returns whether other machines reach the server without TLS. Trusted proxies are assumed to terminate TLS. */
export function isExposedWithoutTls(config: Pick<Config, "host" | "tlsCert" | "trustedProxies">): boolean {
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(config.host);
  return !isLoopback && config.tlsCert === null && config.trustedProxies.length === 0;
}
