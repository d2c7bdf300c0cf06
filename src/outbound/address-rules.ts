/** Decides to which IP addresses webhooks may be sent. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type AddressRules = { allowLoopback: boolean; allowPrivate: boolean };

/** `never`: rejected regardless of the configuration. */
type AddressClass = "never" | "loopback" | "private" | "public";

const v4 = (...ranges: string[]) => ranges.map((range) => ipaddr.IPv4.parseCIDR(range));
const v6 = (...ranges: string[]) => ranges.map((range) => ipaddr.IPv6.parseCIDR(range));

/** The first range that contains the address decides. */
const IPV4_RANGES = {
  never: v4(
    // This network, link-local (cloud metadata), IETF protocols, documentation, 6to4, benchmarks, multicast, reserved.
    "0.0.0.0/8",
    "169.254.0.0/16",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    // Cloud metadata outside link-local: Alibaba, Azure.
    "100.100.100.200/32",
    "168.63.129.16/32",
  ),
  loopback: v4("127.0.0.0/8"),
  private: v4("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
};

/** Addresses outside of all ranges are rejected: only 2000::/3 is allocated to the public internet. */
const IPV6_RANGES = {
  never: v6(
    // IETF protocol assignments with Teredo (2001::/32), ORCHID and benchmarks; documentation.
    "2001::/23",
    "2001:db8::/32",
    "3fff::/20",
    // Cloud metadata in the private range: AWS, Google, Oracle, Scaleway.
    "fd00:ec2::/32",
    "fd20:ce::254/128",
    "fd00:c1::a9fe:a9fe/128",
    "fd00:42::42/128",
  ),
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
