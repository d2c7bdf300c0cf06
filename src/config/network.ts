/** The setting `ca`, and values derived from the network settings. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { ConfigError } from "./readers";
import type { Config } from "./settings";

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
