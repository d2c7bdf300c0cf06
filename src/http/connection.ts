/** The connection of a request. */

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
