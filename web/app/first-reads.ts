/** What every page with a session reads first: the server has the browser read it while the script loads. Pure. */

/** The most that one call returns. */
export const MAX_WORKSPACES = 100;

/** The addresses, as the client of the API writes them. The answers are the same in every workspace. */
export const FIRST_READS: readonly string[] = ["/api/v1/users/me", `/api/v1/workspaces?limit=${MAX_WORKSPACES}`];
