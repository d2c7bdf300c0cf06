/** Who is at the other end: the connection's address, or what a trusted proxy says of it. */

/**
 * The client's address for the log. `peer` is whoever opened the connection; the `X-Forwarded-For` header is believed only from a proxy
 * that the configuration names, and read from its end: the last address that is no such proxy is the client.
 */
export function findClientAddress(
  peer: string | null,
  forwardedFor: string | null,
  trustedProxies: string[],
): string | null {
  const isTrusted = (address: string) => trustedProxies.includes(unmapIpv4(address));
  if (peer === null || !isTrusted(peer) || !forwardedFor) return peer === null ? null : unmapIpv4(peer);
  const hops = forwardedFor
    .split(",")
    .map((hop) => unmapIpv4(hop.trim()))
    .filter(Boolean);
  return hops.findLast((hop) => !isTrusted(hop)) ?? hops[0] ?? unmapIpv4(peer);
}

/** Whether the client's connection is encrypted: the server's own is, or a trusted proxy says so of its. */
export function isSecureConnection(
  hasTls: boolean,
  peer: string | null,
  forwardedProto: string | null,
  trustedProxies: string[],
): boolean {
  if (hasTls) return true;
  return peer !== null && trustedProxies.includes(unmapIpv4(peer)) && forwardedProto?.trim().toLowerCase() === "https";
}

/** An IPv4 address that came over IPv6 is itself. */
const unmapIpv4 = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");
