/** Where a webhook may go: the addresses behind a name, held against what the configuration allows. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type AddressRules, isAllowed } from "./address-rules";

export { type AddressRules, isAllowed } from "./address-rules";

export type Address = { address: string; family: 4 | 6 };

/** Why a URL is refused: a line for the user. */
export class RefusedUrl extends Error {}

/** Resolves a host name; replaced in tests. */
export type Resolve = (host: string) => Promise<Address[]>;

export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));

const LONGEST_URL = 2048;
/** Below this only the web's own two ports: mail servers and databases have theirs there. */
const FIRST_FREE_PORT = 1024;

/** Reads a webhook's URL. Throws `RefusedUrl`. */
export function parseWebhookUrl(text: string): URL {
  if (text.length > LONGEST_URL || !URL.canParse(text)) throw new RefusedUrl("must be a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new RefusedUrl("must begin with https:// or http://");
  if (url.username !== "" || url.password !== "") throw new RefusedUrl("must not hold a user name or password");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (port !== 80 && port !== 443 && port < FIRST_FREE_PORT) throw new RefusedUrl(`must not use port ${port}`);
  return url;
}

/** The address to connect to: every address of the host must be allowed. Throws `RefusedUrl`. */
export async function checkedAddress(
  url: URL,
  rules: AddressRules,
  resolve: Resolve = resolveBySystem,
): Promise<Address> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const literal = isIP(host);
  const found = literal
    ? [{ address: host, family: literal === 6 ? (6 as const) : (4 as const) }]
    : await resolve(host).catch(() => []);
  const [first] = found;
  if (!first) throw new RefusedUrl("has a host name that does not resolve");
  if (!found.every(({ address }) => isAllowed(address, rules)))
    throw new RefusedUrl("leads to an address that webhooks may not use");
  return first;
}
