/** The settings: their readers, defaults and descriptions. */
import { availableParallelism, homedir } from "node:os";
import { join } from "node:path";
import { BILLING_MODES } from "../domain/billing";
import { CUT_MODE_NAMES } from "../domain/plan";
import { WORKER_JOBS } from "../domain/workers";
import { LOG_LEVELS } from "../lib/log";
import type { CamelCase } from "./camel-case";
import {
  backupTarget,
  boolean,
  dnsServers,
  emailAddress,
  integer,
  listOf,
  nullable,
  oneOf,
  originUrl,
  type Reader,
  recoveryKey,
  redisUrl,
  smtpUrl,
  string,
  stringList,
  timeOfDay,
  url,
} from "./readers";
import type { ConfigTables } from "./tables";

export type Setting<T> = { read: Reader<T>; default: () => T; about: string };

/** `initial` is the default, or determines it on this machine. */
const setting = <T>(read: Reader<T>, initial: NoInfer<T> | (() => NoInfer<T>), about: string): Setting<T> => ({
  read,
  default: typeof initial === "function" ? (initial as () => T) : () => initial,
  about,
});
/** Its default is null. */
const optional = <T>(read: Reader<T>, about: string): Setting<T | null> => setting(nullable(read), null, about);

/**
 * All settings by their key in the file. Flags have hyphens, environment variables capitals and the prefix `OFFCUT_`.
 */
export const SETTINGS = {
  data_dir: setting(string, () => join(homedir(), ".local/share/offcut"), "folder for the database and all files"),
  media_dir: optional(
    string,
    "folder for recordings, renders and exports, also on a network file system; default data_dir",
  ),
  host: setting(string, "127.0.0.1", "address to listen on"),
  port: setting(integer(0, 65535), 4700, "port to listen on; 0 selects a free one"),
  public_url: optional(url, "URL of this server in links; default from host and port"),
  tls_cert: optional(string, "PEM file of the TLS certificate"),
  tls_key: optional(string, "PEM file of the TLS key"),
  trusted_proxies: setting(stringList, () => [], "addresses of proxies whose X-Forwarded-* headers are trusted"),
  cors_origins: setting(stringList, () => [], "origins allowed to call the API from a browser"),
  ffmpeg: optional(string, "path of ffmpeg; default from PATH, else the bundled one"),
  encoder: optional(string, "video encoder; default the best one that works"),
  previews: setting(
    oneOf("on_opening", "after_preparation", "never"),
    "on_opening",
    "when dashboard previews are created: on_opening, when a page first shows the asset, after_preparation, or never",
  ),
  cut_after_upload: setting(
    oneOf("off", ...CUT_MODE_NAMES),
    "natural",
    "how projects that are created in the dashboard cut new recordings: tight, natural, loose or off",
  ),
  sandbox: setting(
    oneOf("auto", "require", "off"),
    "auto",
    "isolation of media processes: auto, require (does not start without bwrap) or off",
  ),
  request_timeout_seconds: setting(integer(1, 240), 30, "time limit for the headers and the JSON body of a request"),
  log_level: setting(oneOf(...LOG_LEVELS), "info", "lowest level of log lines: debug, info, warn or error"),
  rate_limit: setting(integer(0), 600, "requests per minute and user; 0 disables the limit"),
  signup: setting(oneOf("closed", "open"), "closed", "whether anyone can create an account: closed or open"),
  signup_credits: setting(integer(0), 6000, "credits of a new account"),
  billing: optional(
    oneOf(...BILLING_MODES),
    "whether recordings, cuts and renders cost credits, on or off; default the choice at setup, else on",
  ),
  credits_per_minute: setting(integer(0), 1, "credits per started minute of a recording"),
  cut_step_credits: setting(integer(0), 0, "credits per cut"),
  render_step_credits: setting(integer(0), 0, "credits per render"),
  max_upload_bytes: setting(integer(64), 100 * 1024 ** 3, "maximum size of an upload"),
  max_uploads: setting(integer(1), 10, "unfinished uploads per workspace"),
  storage_quota_bytes: setting(
    integer(0),
    0,
    "storage per workspace: sources, derivatives, renders and text; 0 disables the limit",
  ),
  disk_reserve_bytes: setting(integer(0), 2 * 1024 ** 3, "free space below which uploads and renders are refused"),
  backup_to: optional(
    backupTarget,
    "folder or s3://BUCKET/PREFIX for nightly backups, ideally on another disk; default none",
  ),
  backup_key: optional(recoveryKey, "recovery key of off-site backups; default the one that the first backup created"),
  backup_at: setting(timeOfDay, "02:00", "local time of the nightly backup, such as 02:00"),
  backup_keep_daily: setting(integer(1, 1000), 7, "number of days for which the last backup is kept"),
  backup_keep_weekly: setting(integer(0, 1000), 4, "number of weeks for which the last backup is kept"),
  max_duration_seconds: setting(integer(1), 24 * 3600, "maximum duration of a recording"),
  max_side_pixels: setting(integer(16), 8192, "maximum width or height of video"),
  max_streams: setting(integer(1), 64, "maximum number of streams in a file"),
  render_jobs: setting(integer(0, 256), () => Math.max(1, availableParallelism() >> 1), "concurrent renders"),
  prepare_jobs: setting(integer(0, 256), 2, "concurrent preparations"),
  cut_jobs: setting(integer(0, 256), 2, "concurrent cuts"),
  redis_url: optional(
    redisUrl,
    "Redis server that assigns work to workers on other machines, such as rediss://user:password@redis.example.com:6379",
  ),
  ca: optional(
    string,
    "PEM file of the certificate authority for the head and Redis; default the system's authorities",
  ),
  webhooks_allow_private: setting(boolean, false, "allow webhooks to private addresses"),
  webhooks_allow_loopback: setting(boolean, false, "allow webhooks to this machine"),
  dns_servers: setting(dnsServers, () => [], "DNS servers for webhook host names; default from the system"),
  smtp_url: optional(smtpUrl, "mail server, such as smtp://user:password@mail.example.com:587"),
  mail_from: optional(emailAddress, "sender of mails; default noreply@ and the host of public_url"),
  stripe_secret_key: optional(
    string,
    "secret key of the Stripe account for payments; without it, an administrator approves orders",
  ),
  stripe_webhook_secret: optional(
    string,
    "signing secret of the Stripe event destination; required with stripe_secret_key",
  ),
  stripe_url: optional(originUrl, "base URL of the Stripe API; default Stripe's own"),
  models_url: optional(url, "mirror for speech models; default the publishers' servers"),
  speech_idle_seconds: setting(integer(1), 300, "idle time after which the speech process exits"),
  head: optional(originUrl, "worker: address of the head"),
  token: optional(string, "worker: join token, from offcut worker token create"),
  redis: optional(redisUrl, "worker: Redis of the head, redis:// or rediss://"),
  jobs: setting(listOf(WORKER_JOBS), () => [...WORKER_JOBS], "worker: kinds of jobs to run"),
  slots: setting(
    integer(1, 64),
    () => Math.max(1, availableParallelism() >> 1),
    "worker: maximum number of concurrent jobs",
  ),
  cache_bytes: setting(integer(0), 50 * 1024 ** 3, "worker: size of the cache for the head's files"),
} as const;

export type SettingsTable = typeof SETTINGS;

/** The effective settings in camel case (`config.dataDir`, …), and the arrays of tables (`config.oidc`). */
export type Config = {
  [K in keyof SettingsTable as CamelCase<K>]: ReturnType<SettingsTable[K]["read"]>;
} & ConfigTables;
