/** The connection of a request, as far as the server knows it. */

export type Connection = {
  /** The address of whoever opened it. */
  address: string | null;
  /** Closes the connection when nothing goes over it for so many seconds; 0 is never. Counts anew from now, and until it is set again. */
  setIdleTimeout(seconds: number): void;
};

/** For requests that do not come over a connection. */
export const NO_CONNECTION: Connection = { address: null, setIdleTimeout: () => {} };

/** How long a call may take, an upload may pause and a download may stall. */
export const ACTIVE_IDLE_SECONDS = 120;
