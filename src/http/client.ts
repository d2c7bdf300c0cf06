/** The client of a request, also behind a trusted proxy, and its connection. */
import type { Config } from "../config";

export type RequestClient = {
  /** Null without a connection. */
  address: string | null;
  isSecure: boolean;
};

/** For requests without a connection. */
export const UNKNOWN_CLIENT: RequestClient = { address: null, isSecure: false };

export function findClient(
  config: Pick<Config, "tlsCert" | "trustedProxies">,
  request: Request,
  connection: Connection,
): RequestClient {
  const { headers } = request;
  const { trustedProxies } = config;
  return {
    address: findClientAddress(connection.address, headers.get("x-forwarded-for"), trustedProxies),
    isSecure: isSecureConnection(
      config.tlsCert !== null,
      connection.address,
      headers.get("x-forwarded-proto"),
      trustedProxies,
    ),
  };
}

/**
 * Returns the client's address for the log. `peer` is the address that opened the connection. `X-Forwarded-For` counts
 * only if `peer` is a trusted proxy, and is read from its end: the last address that is not a trusted proxy is the
 * client.
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
    .map((hop) => unmapIpv4(removePort(hop.trim())))
    .filter(Boolean);
  return hops.findLast((hop) => !isTrusted(hop)) ?? hops[0] ?? unmapIpv4(peer);
}

/** Returns whether the client's connection is encrypted, by this server or a trusted proxy (`X-Forwarded-Proto`). */
export function isSecureConnection(
  hasTls: boolean,
  peer: string | null,
  forwardedProto: string | null,
  trustedProxies: string[],
): boolean {
  if (hasTls) return true;
  return peer !== null && trustedProxies.includes(unmapIpv4(peer)) && forwardedProto?.trim().toLowerCase() === "https";
}

/** Removes the port that some proxies append: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const removePort = (hop: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? hop.replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");

/** Converts an IPv4-mapped IPv6 address to IPv4. */
const unmapIpv4 = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

export type Connection = {
  /** The peer's address. */
  address: string | null;
  /** Closes the connection after this many seconds without traffic, counted from now; 0 disables the timeout. */
  setIdleTimeout(seconds: number): void;
};

/** For requests without a connection. */
export const NO_CONNECTION: Connection = { address: null, setIdleTimeout: () => {} };

/** Idle timeout while a call runs, an upload pauses or a download stalls. */
export const ACTIVE_IDLE_SECONDS = 120;
/** The same for an archive that is made while it is sent: a part of it may wait for its turn, also more than once. */
export const ARCHIVE_IDLE_SECONDS = 240;
