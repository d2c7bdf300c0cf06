/** Validates webhook URLs and resolves their hosts to allowed addresses. */
import { isIP } from "node:net";
import { AppError } from "../domain/errors";
import { type AddressRules, isAllowedAddress } from "./address-rules";

export type Address = { address: string; family: 4 | 6 };

/** Thrown for a URL that is rejected. `message` completes a sentence that starts with "the URL". */
export class RefusedUrlError extends Error {}

/** Returns every address of a host name, IPv4 first; empty if it has none. Throws `RefusedUrlError` or `AppError`. */
export type Resolve = (host: string) => Promise<Address[]>;

const MAX_URL_CHARACTERS = 2048;
/** Below this, only 80 and 443 are allowed, because mail servers and databases listen there. */
const MIN_UNPRIVILEGED_PORT = 1024;

/** Parses the URL of a webhook. Throws `RefusedUrlError`. */
export function parseWebhookUrl(text: string): URL {
  if (text.length > MAX_URL_CHARACTERS || !URL.canParse(text)) throw new RefusedUrlError("must be a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new RefusedUrlError("must start with https:// or http://");
  if (url.username !== "" || url.password !== "") throw new RefusedUrlError("must not contain a user name or password");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port !== 80 && port !== 443 && port < MIN_UNPRIVILEGED_PORT)
    throw new RefusedUrlError(`must not use port ${port}`);
  return url;
}

/**
 * Returns every address of the URL's host, IPv4 first. Throws `RefusedUrlError` if the host has no address, or any
 * address that is not allowed; and the `AppError` of `resolve`.
 */
export async function resolveAllowedAddresses(url: URL, rules: AddressRules, resolve: Resolve): Promise<Address[]> {
  const found = await resolveHost(url.hostname.replace(/^\[|\]$/g, ""), resolve);
  if (found.length === 0) throw new RefusedUrlError("has a host name that does not resolve");
  if (!found.every(({ address }) => isAllowedAddress(address, rules)))
    throw new RefusedUrlError("resolves to an address that webhooks may not use");
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
