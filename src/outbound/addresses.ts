/** Where a webhook may go: the addresses behind a name, held against what the configuration allows. */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

export type AddressRules = { allowLoopback: boolean; allowPrivate: boolean };
export type Address = { address: string; family: 4 | 6 };

/** Why a URL is refused: a line for the user. */
export class RefusedUrl extends Error {}

type Range = [network: string, bits: number];

const LOOPBACK: Range[] = [
  ["127.0.0.0", 8],
  ["::1", 128],
];
const PRIVATE: Range[] = [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["100.64.0.0", 10],
  ["fc00::", 7],
];
/** Never allowed: this network, link-local (where clouds keep their metadata), tests, multicast, reserved, and ways to hide an IPv4 address. */
const NEVER: Range[] = [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["::", 128],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  ["2001:db8::", 32],
  // Metadata of clouds outside the link-local ranges: AWS and Google over IPv6, Alibaba, Azure.
  ["fd00:ec2::254", 128],
  ["fd20:ce::254", 128],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
];

function listOf(ranges: Range[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of ranges) list.addSubnet(network, bits, network.includes(":") ? "ipv6" : "ipv4");
  return list;
}

const loopback = listOf(LOOPBACK);
const privateRanges = listOf(PRIVATE);
const never = listOf(NEVER);

/** The IPv4 address inside an IPv6 one (mapped, NAT64, 6to4), or null. */
function embeddedIpv4(address: string): string | null {
  const groups = expand(address);
  const dotted = (high: number, low: number) => [high >> 8, high & 255, low >> 8, low & 255].join(".");
  const leading = groups.slice(0, 5).every((g) => g === 0);
  if (leading && (groups[5] === 0xffff || groups[5] === 0) && (groups[6] !== 0 || groups[7]! > 1))
    return dotted(groups[6]!, groups[7]!);
  if (groups[0] === 0x64 && groups[1] === 0xff9b) return dotted(groups[6]!, groups[7]!);
  if (groups[0] === 0x2002) return dotted(groups[1]!, groups[2]!);
  return null;
}

/** The eight groups of an IPv6 address. */
function expand(address: string): number[] {
  const plain = address.replace(/%.*$/, "").replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const pair = (x: string, y: string) => ((Number(x) << 8) | Number(y)).toString(16);
    return `${pair(a, b)}:${pair(c, d)}`;
  });
  const [head = "", tail] = plain.split("::");
  const read = (text: string) => (text === "" ? [] : text.split(":").map((g) => Number.parseInt(g, 16)));
  const left = read(head);
  const right = tail === undefined ? [] : read(tail);
  return tail === undefined ? left : [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/** Whether a webhook may go to this address. */
export function isAllowed(address: string, rules: AddressRules): boolean {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  const inner = family === "ipv6" ? embeddedIpv4(address) : null;
  if (inner !== null) return isAllowed(inner, rules);
  if (isIP(address) === 0 || never.check(address, family)) return false;
  if (loopback.check(address, family)) return rules.allowLoopback;
  if (privateRanges.check(address, family)) return rules.allowPrivate;
  return true;
}

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
