/** The client of a request, also behind a trusted proxy: its address, and whether its connection is encrypted. */
import type { Config } from "../config";
import { findClientAddress, isSecureConnection } from "./client-address";
import type { Connection } from "./connection";

export type RequestClient = {
  /** Null without a connection. */
  address: string | null;
  isSecure: boolean;
};

/** For requests without a connection. */
export const UNKNOWN_CLIENT: RequestClient = { address: null, isSecure: false };

/** Returns the client of a request. */
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
