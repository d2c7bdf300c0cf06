/** Validates webhook URLs, resolves their hosts, and decides to which IP addresses webhooks may be sent. */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { AppError } from "../domain/errors";
import { MAX_URL_CHARACTERS } from "../domain/field-limits";

export type Address = { address: string; family: 4 | 6 };

/** Thrown for a URL that is rejected. `message` completes a sentence that starts with "the URL". */
export class RefusedUrlError extends Error {}

/** Returns every address of a host name, IPv4 first; empty if it has none. Throws `RefusedUrlError` or `AppError`. */
export type Resolve = (host: string) => Promise<Address[]>;

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

export type AddressRules = { allowLoopback: boolean; allowPrivate: boolean };

/** `never`: rejected regardless of the configuration. */
type AddressClass = "never" | "loopback" | "private" | "public";

/** `ranges` are separated by spaces. */
const v4 = (ranges: string) => ranges.split(" ").map((range) => ipaddr.IPv4.parseCIDR(range));
const v6 = (ranges: string) => ranges.split(" ").map((range) => ipaddr.IPv6.parseCIDR(range));

/** The first range that contains the address decides. */
const IPV4_RANGES = {
  never: [
    // This network, link-local (cloud metadata), IETF protocols, documentation, 6to4, benchmarks.
    ...v4(
      "0.0.0.0/8 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 192.88.99.0/24 198.18.0.0/15",
    ),
    // Multicast, reserved; cloud metadata outside link-local: Alibaba, Azure.
    ...v4("224.0.0.0/4 240.0.0.0/4 100.100.100.200/32 168.63.129.16/32"),
  ],
  loopback: v4("127.0.0.0/8"),
  private: v4("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10"),
};

/** Addresses outside of all ranges are rejected: only 2000::/3 is allocated to the public internet. */
const IPV6_RANGES = {
  never: [
    // IETF protocol assignments with Teredo (2001::/32), ORCHID and benchmarks; documentation.
    ...v6("2001::/23 2001:db8::/32 3fff::/20"),
    // Cloud metadata in the private range: AWS, Google, Oracle, Scaleway.
    ...v6("fd00:ec2::/32 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 fd00:42::42/128"),
  ],
  loopback: v6("::1/128"),
  private: v6("fc00::/7"),
  public: v6("2000::/3"),
};

/** IPv6 ranges that embed an IPv4 address, with the index of the 16-bit group at which it starts. */
const EMBEDDING_RANGES = [
  { range: ipaddr.IPv6.parseCIDR("::ffff:0:0/96"), group: 6 }, // IPv4-mapped
  { range: ipaddr.IPv6.parseCIDR("::/96"), group: 6 }, // IPv4-compatible
  { range: ipaddr.IPv6.parseCIDR("::ffff:0:0:0/96"), group: 6 }, // IPv4-translated (SIIT)
  { range: ipaddr.IPv6.parseCIDR("64:ff9b::/96"), group: 6 }, // NAT64
  { range: ipaddr.IPv6.parseCIDR("2002::/16"), group: 1 }, // 6to4
];

/** Returns whether webhooks may be sent to the IP address. False for malformed addresses and those with a zone. */
export function isAllowedAddress(address: string, rules: AddressRules): boolean {
  if (isIP(address) === 0 || address.includes("%") || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const isAllowedClass = (found: AddressClass): boolean =>
    found === "public" || (found === "loopback" && rules.allowLoopback) || (found === "private" && rules.allowPrivate);
  if (parsed instanceof ipaddr.IPv4) return isAllowedClass(classifyIpv4(parsed));
  const isatap = isatapIpv4(parsed);
  if (isatap && !isAllowedClass(classifyIpv4(isatap))) return false;
  return isAllowedClass(classifyIpv6(parsed));
}

const classifyIpv4 = (address: ipaddr.IPv4): AddressClass =>
  ipaddr.subnetMatch(address, IPV4_RANGES, "public") as AddressClass;

function classifyIpv6(address: ipaddr.IPv6): AddressClass {
  const loopbackOrUnspecified = address.parts.slice(0, 7).every((group) => group === 0) && address.parts[7]! <= 1;
  const embedding = EMBEDDING_RANGES.find(({ range }) => address.match(range));
  if (embedding && !loopbackOrUnspecified) return classifyIpv4(ipv4At(address, embedding.group));
  return ipaddr.subnetMatch(address, IPV6_RANGES, "never") as AddressClass;
}

/** Returns the IPv4 address in an ISATAP interface identifier (`::0:5efe:a.b.c.d`, RFC 5214), or null. */
function isatapIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  const [, , , , universalBit, marker] = address.parts;
  return marker === 0x5efe && (universalBit! & ~0x0200) === 0 ? ipv4At(address, 6) : null;
}

function ipv4At(address: ipaddr.IPv6, group: number): ipaddr.IPv4 {
  const [high = 0, low = 0] = address.parts.slice(group, group + 2);
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
}
