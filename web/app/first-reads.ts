/**
 * Requests that every page with a session sends first. The server has the browser send them while the script is
 * loading. Pure.
 */

/** Maximum number of workspaces in one response. */
export const MAX_WORKSPACES = 100;

/** The addresses, exactly as the API client writes them. The responses are the same in every workspace. */
export const FIRST_READS: readonly string[] = ["/api/v1/users/me", `/api/v1/workspaces?limit=${MAX_WORKSPACES}`];
