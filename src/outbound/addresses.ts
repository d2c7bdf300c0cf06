/** Webhook URLs: their syntax, and the addresses that their host has. */
import { isIP } from "node:net";
import { AppError } from "../domain/errors";
import { type AddressRules, isAllowedAddress } from "./address-rules";

export type Address = { address: string; family: 4 | 6 };

/** The reason why a URL is refused. `message` continues a sentence that begins with "the URL". */
export class RefusedUrlError extends Error {}

/** Returns every address of a host name, IPv4 first; empty when it has none. Throws `RefusedUrl` or `AppError`. */
export type Resolve = (host: string) => Promise<Address[]>;

const MAX_URL_CHARACTERS = 2048;
/** Below this only the web's own two ports are allowed: mail servers and databases have theirs there. */
const MIN_UNPRIVILEGED_PORT = 1024;

/** Parses a webhook's URL. Throws `RefusedUrl`. */
export function parseWebhookUrl(text: string): URL {
  if (text.length > MAX_URL_CHARACTERS || !URL.canParse(text)) throw new RefusedUrlError("must be a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new RefusedUrlError("must begin with https:// or http://");
  if (url.username !== "" || url.password !== "") throw new RefusedUrlError("must not hold a user name or password");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port !== 80 && port !== 443 && port < MIN_UNPRIVILEGED_PORT)
    throw new RefusedUrlError(`must not use port ${port}`);
  return url;
}

/**
 * Returns every address of the URL's host, IPv4 first. Throws `RefusedUrl` when there is none, or when any of them is not allowed, and the
 * `AppError` of `resolve`.
 */
export async function resolveAllowedAddresses(url: URL, rules: AddressRules, resolve: Resolve): Promise<Address[]> {
  const found = await resolveHost(url.hostname.replace(/^\[|\]$/g, ""), resolve);
  if (found.length === 0) throw new RefusedUrlError("has a host name that does not resolve");
  if (!found.every(({ address }) => isAllowedAddress(address, rules)))
    throw new RefusedUrlError("leads to an address that webhooks may not use");
  return found;
}

async function resolveHost(host: string, resolve: Resolve): Promise<Address[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family: family === 6 ? 6 : 4 }];
  try {
    return await resolve(host);
  } catch (error) {
    if (error instanceof RefusedUrlError || error instanceof AppError) throw error;
    return [];
  }
}
