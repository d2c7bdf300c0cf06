import { describe, expect, test } from "bun:test";
import { Resolver } from "node:dns";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { type Config, ConfigError, configFlags, getMailSender, loadConfig, publicUrl } from "../../../src/config";
import { temporaryFolder } from "../../temporary-folder";

type Sources = { toml?: string; env?: Record<string, string>; flags?: Record<string, string> };

/** Loads with a temporary configuration file, so that the file of the machine has no effect. */
async function load(sources: Sources): Promise<Config> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "offcut.toml");
  await Bun.write(file, sources.toml ?? "");
  return await loadConfig({ env: sources.env ?? {}, flags: { config: file, ...sources.flags } });
}

/** Returns the error message, without the path of the temporary folder. */
async function refusal(sources: Sources): Promise<string> {
  const error = await load(sources).then(
    () => "accepted",
    (e) => e,
  );
  expect(error).toBeInstanceOf(ConfigError);
  const { message } = error as Error;
  expect(message).not.toContain("\n");
  return message.replace(/^\S*offcut\.toml/, "offcut.toml");
}

test("without any source the defaults apply", async () => {
  expect(await load({})).toMatchObject({
    host: "127.0.0.1",
    port: 4700,
    publicUrl: null,
    rateLimit: 600,
    signupCredits: 6000,
    creditsPerMinute: 1,
    maxUploadBytes: 100 * 1024 ** 3,
    maxUploads: 10,
    maxDurationSeconds: 24 * 3600,
    maxSidePixels: 8192,
    maxStreams: 64,
    logLevel: "info",
    corsOrigins: [],
    trustedProxies: [],
    webhooksAllowPrivate: false,
    webhooksAllowLoopback: false,
  });
});

test("a flag overrides the environment, which overrides the file, which overrides the default", async () => {
  const toml = "port = 1\nhost = 'file'\nrate_limit = 1\nmax_uploads = 1";
  const env = { OFFCUT_PORT: "2", OFFCUT_HOST: "env", OFFCUT_RATE_LIMIT: "2" };
  const config = await load({ toml, env, flags: { port: "3", host: "flag" } });
  expect(config).toMatchObject({ port: 3, host: "flag", rateLimit: 2, maxUploads: 1, signupCredits: 6000 });
});

test("every setting has a flag, and so has the file", () => {
  const flags = Object.keys(configFlags());
  expect(flags).toContain("data-dir");
  expect(flags).toContain("max-upload-bytes");
  expect(flags).toContain("config");
  expect(flags.filter((name) => name.includes("_"))).toEqual([]);
});

describe("values", () => {
  test.each<[string, Sources, Partial<Config>]>([
    ["numbers in a file", { toml: "port = 80" }, { port: 80 }],
    ["numbers as text in a file", { toml: "port = '80'" }, { port: 80 }],
    [
      "lists in a file",
      { toml: "cors_origins = ['https://a', 'https://b']" },
      { corsOrigins: ["https://a", "https://b"] },
    ],
    [
      "lists in the environment",
      { env: { OFFCUT_CORS_ORIGINS: "https://a, https://b," } },
      { corsOrigins: ["https://a", "https://b"] },
    ],
    ["an empty list", { env: { OFFCUT_CORS_ORIGINS: "" } }, { corsOrigins: [] }],
    [
      "true and false",
      { toml: "webhooks_allow_private = true", env: { OFFCUT_WEBHOOKS_ALLOW_LOOPBACK: "1" } },
      { webhooksAllowPrivate: true, webhooksAllowLoopback: true },
    ],
    [
      "an address without its last slash",
      { env: { OFFCUT_PUBLIC_URL: "https://cut.example/x//" } },
      { publicUrl: "https://cut.example/x" },
    ],
    [
      "an address that is taken back",
      { toml: "public_url = 'https://a'", env: { OFFCUT_PUBLIC_URL: "" } },
      { publicUrl: null },
    ],
    ["a level of the log", { env: { OFFCUT_LOG_LEVEL: "debug" } }, { logLevel: "debug" }],
    ["a free port", { flags: { port: "0" } }, { port: 0 }],
    ["a limit that is off", { env: { OFFCUT_RATE_LIMIT: "0" } }, { rateLimit: 0 }],
    [
      "all work left to workers",
      {
        toml: "render_jobs = 0\nprepare_jobs = 0\ncut_jobs = 0",
        env: { OFFCUT_REDIS_URL: "rediss://u:p@redis.example:6380/1" },
      },
      { renderJobs: 0, prepareJobs: 0, cutJobs: 0, redisUrl: "rediss://u:p@redis.example:6380/1" },
    ],
    ["a bucket for backups", { toml: 'backup_to = "s3://backups/office"' }, { backupTo: "s3://backups/office" }],
    ["the environment of others", { env: { PATH: "/bin", OFFCUTS: "x" } }, { port: 4700 }],
  ])("%s", async (_, sources, expected) => {
    expect(await load(sources)).toMatchObject(expected);
  });
});

describe("loading fails with one line that names", () => {
  test.each<[string, Sources, string]>([
    [
      "a mail server of another protocol, without its password",
      { env: { OFFCUT_SMTP_URL: "https://user:s3cret@mail.example" } },
      "OFFCUT_SMTP_URL: smtp_url must be an smtp or smtps URL",
    ],
    [
      "credentials in the URL of a bucket, without repeating them",
      { env: { OFFCUT_BACKUP_TO: "s3://AKIA:s3cret@backups" } },
      "OFFCUT_BACKUP_TO: backup_to must not contain credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.",
    ],
    [
      "a mistyped recovery key, without repeating it",
      { env: { OFFCUT_BACKUP_KEY: "s3cret" } },
      "OFFCUT_BACKUP_KEY: backup_key is not valid: A recovery key has 56 characters, but this one has 6.",
    ],
    ["a sender", { toml: "mail_from = 'Offcut'" }, "offcut.toml: mail_from must be an email address"],
    [
      "the line of a mistake",
      { toml: 'host = "::"\nport = = 80' },
      "offcut.toml: line 2: Invalid TOML document: invalid value",
    ],
    [
      "a level that the log does not have",
      { flags: { "log-level": "trace" } },
      "--log-level: log_level must be one of debug, info, warn, error",
    ],
    ["an unknown key", { toml: "prot = 80" }, 'offcut.toml: unknown setting "prot"'],
    ["a section", { toml: "[server]\nport = 80" }, 'offcut.toml: unknown setting "server"'],
    ["an unknown variable", { env: { OFFCUT_PROT: "80" } }, 'OFFCUT_PROT: unknown setting "prot"'],
    [
      "a variable named as every object's part",
      { env: { OFFCUT_CONSTRUCTOR: "80" } },
      'OFFCUT_CONSTRUCTOR: unknown setting "constructor"',
    ],
    [
      "a port that is no number",
      { env: { OFFCUT_PORT: "http" } },
      "OFFCUT_PORT: port must be an integer from 0 to 65535",
    ],
    ["an empty port", { env: { OFFCUT_PORT: "" } }, "OFFCUT_PORT: port must be an integer from 0 to 65535"],
    ["a port that is too high", { flags: { port: "65536" } }, "--port: port must be an integer from 0 to 65535"],
    [
      "half a number",
      { toml: "rate_limit = 1.5" },
      `offcut.toml: rate_limit must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`,
    ],
    ["a number where text belongs", { toml: "host = 5" }, "offcut.toml: host must be a non-empty string"],
    ["an empty folder", { env: { OFFCUT_DATA_DIR: "" } }, "OFFCUT_DATA_DIR: data_dir must be a non-empty string"],
    [
      "a flag that is neither true nor false",
      { toml: "webhooks_allow_private = 'maybe'" },
      "offcut.toml: webhooks_allow_private must be true or false",
    ],
    ["a list of other things", { toml: "cors_origins = [1]" }, "offcut.toml: cors_origins must be a list of strings"],
    [
      "an address that is none",
      { flags: { "public-url": "cut.example" } },
      "--public-url: public_url must be an http or https URL",
    ],
    [
      "an address of another kind",
      { flags: { "public-url": "ftp://cut" } },
      "--public-url: public_url must be an http or https URL",
    ],
    [
      "Redis by another protocol, without its password",
      { env: { OFFCUT_REDIS_URL: "http://user:s3cret@redis.example" } },
      "OFFCUT_REDIS_URL: redis_url must be a redis or rediss URL without a query",
    ],
    [
      "options of the Redis client",
      { toml: "redis_url = 'redis://redis.example?password=s3cret'" },
      "offcut.toml: redis_url must be a redis or rediss URL without a query",
    ],
    [
      "Redis without a host",
      { toml: "redis_url = 'redis:///0'" },
      "offcut.toml: redis_url must be a redis or rediss URL without a query",
    ],
    ...["render_jobs", "prepare_jobs", "cut_jobs"].map((key): [string, Sources, string] => [
      `no ${key} without workers`,
      { env: { [`OFFCUT_${key.toUpperCase()}`]: "0" } },
      `${key} can be 0 only with redis_url, which lets workers run the jobs`,
    ]),
    ["a certificate without its key", { flags: { "tls-cert": "a.pem" } }, "tls_cert and tls_key must be set together"],
  ])("%s", async (_, sources, expected) => {
    expect(await refusal(sources)).toBe(expected);
  });

  test("a file that is not TOML", async () => {
    expect(await refusal({ toml: "port = = 80" })).toStartWith("offcut.toml: ");
  });

  test("a missing file", async () => {
    const loading = loadConfig({ env: {}, flags: { config: "/nowhere/offcut.toml" } });
    await expect(loading).rejects.toThrow("/nowhere/offcut.toml: configuration file not found");
  });
});

test.each<[Partial<Config>, string]>([
  [{}, "http://127.0.0.1:99"],
  [{ host: "0.0.0.0" }, "http://localhost:99"],
  [{ host: "::" }, "http://localhost:99"],
  [{ host: "::1" }, "http://[::1]:99"],
  [{ tlsCert: "a", tlsKey: "b" }, "https://127.0.0.1:99"],
  [{ publicUrl: "https://cut.example" }, "https://cut.example"],
])("links with %j start with %s", async (change, expected) => {
  expect(publicUrl({ ...(await load({})), ...change }, 99)).toBe(expected);
});

test.each([
  ["https://cut.example:4700/x", null, "noreply@cut.example"],
  ["http://localhost:4700", null, "noreply@localhost"],
  ["http://127.0.0.1:4700", null, "noreply@[127.0.0.1]"],
  ["http://[::1]:4700", null, "noreply@[IPv6:::1]"],
  ["https://cut.example", "studio@mail.example", "studio@mail.example"],
])("mails of a server at %s with mail_from %s are from %s", (url, mailFrom, expected) => {
  expect(getMailSender({ mailFrom }, url)).toBe(expected);
});

test.each(["10.0.0.53", "10.0.0.53:5353", "fd00::53", "[fd00::53]", "[fd00::53]:5353", "10.0.0.53, fd00::53"])(
  "DNS servers may be %s",
  async (servers) => {
    const config = await load({ env: { OFFCUT_DNS_SERVERS: servers } });
    expect(config.dnsServers).toEqual(servers.split(", "));
    new Resolver().setServers(config.dnsServers);
  },
);

test.each([
  "dns.example.test",
  "10.0.0.53:0",
  "10.0.0.53:99999",
  "10.0.0",
  "[10.0.0.53]:53",
  "fd00::53]:53",
  "[fd00::53",
])("DNS servers may not be %s", async (servers) => {
  expect(await refusal({ env: { OFFCUT_DNS_SERVERS: servers } })).toStartWith("OFFCUT_DNS_SERVERS: dns_servers must ");
});

// Permissions do not restrict root.
test.skipIf(process.getuid?.() === 0)("the error for an unreadable file contains advice", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "offcut.toml");
  await Bun.write(file, "");
  await chmod(file, 0o000);
  const loading = loadConfig({ env: {}, flags: { config: file } });
  await expect(loading).rejects.toThrow(`${file}: permission denied. Run offcut as the service's user`);
});
