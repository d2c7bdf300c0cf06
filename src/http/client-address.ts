/** Who is at the other end: the connection's address, or what a trusted proxy says of it. */

/**
 * The client's address for the log. `peer` is whoever opened the connection; the `X-Forwarded-For` header is believed only from a proxy
 * that the configuration names, and read from its end: the last address that is no such proxy is the client.
 */
export function clientAddress(
  peer: string | null,
  forwardedFor: string | null,
  trustedProxies: string[],
): string | null {
  const isTrusted = (address: string) => trustedProxies.includes(plain(address));
  if (peer === null || !isTrusted(peer) || !forwardedFor) return peer === null ? null : plain(peer);
  const hops = forwardedFor
    .split(",")
    .map((hop) => plain(hop.trim()))
    .filter(Boolean);
  return hops.findLast((hop) => !isTrusted(hop)) ?? hops[0] ?? plain(peer);
}

/** An IPv4 address that came over IPv6 is itself. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");
