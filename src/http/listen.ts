/** The listening socket of the server. */
import { type Config, ConfigError } from "../config";
import type { Handler } from "./app";

export type ListeningSocket = { port?: number | undefined; stop(force: boolean): Promise<void> };

/** Listens on a Unix socket in a private folder. */
export const listenOnSocket = (path: string, handler: Handler): ListeningSocket =>
  Bun.serve({ unix: path, development: false, fetch: (request) => handler(request) });

/** Listens for requests. Throws `ConfigError`. */
export function listen(config: Config, handler: Handler): ListeningSocket {
  try {
    return Bun.serve({
      hostname: config.host,
      port: config.port,
      // Bun would let a second server share the port silently.
      reusePort: false,
      // Uploads have their own limit, and JSON bodies are limited where they are parsed.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      // Applies between requests and while headers arrive. The handler sets another one for the rest of the request.
      idleTimeout: config.requestTimeoutSeconds,
      development: false,
      fetch: (request, server) =>
        handler(request, {
          address: server.requestIP(request)?.address ?? null,
          setIdleTimeout: (seconds) => server.timeout(request, seconds),
        }),
      ...(config.tlsCert && config.tlsKey
        ? { tls: { cert: Bun.file(config.tlsCert), key: Bun.file(config.tlsKey) } }
        : {}),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw new ConfigError(`port ${config.port} on ${config.host} is already in use`);
    throw new ConfigError(`cannot listen on ${config.host}:${config.port}: ${message}`);
  }
}
