/**
 * The paths of the dashboard, and its first requests. The server sends the page for each path, and `main.tsx` or
 * `signed-in.tsx` has a component for each. Pure.
 */

/** Pages that need no session. */
export const OPEN_PATHS = [
  "/sign-in",
  "/sign-up",
  "/setup",
  "/forgot-password",
  "/reset-password",
  "/verify-email",
  "/invitation",
] as const;

/** Pages that need a session and stand alone. */
export const PLAIN_PATHS = ["/oauth/device"] as const;

/** Pages in the shell. */
export const SHELL_PATHS = [
  "/",
  "/projects",
  "/projects/:projectId",
  "/assets/:assetId",
  "/orders/:orderId",
  "/admin/users",
  "/admin/users/:userId",
  "/admin/orders",
  "/admin/jobs",
  "/admin/workers",
  "/admin/workers/:workerId",
  "/admin/storage",
  "/admin/backups",
  "/admin/health",
  "/admin/audit",
  "/credits",
  "/credits/history",
  "/credits/orders",
  "/credits/invoices",
  "/keys",
  "/webhooks",
  "/webhooks/:endpointId",
  "/account",
  "/account/security",
  "/account/notifications",
  "/account/data",
  "/workspaces",
  "/workspaces/:workspaceId",
  "/jobs",
  "/jobs/:pipelineId",
  "/notifications",
  "/settings",
  "/status",
] as const;

const APP_PATHS = [...OPEN_PATHS, ...PLAIN_PATHS, ...SHELL_PATHS] as const;

/** Matches the paths of pages. Other paths, such as the documentation, are loaded from the server. */
export const APP_PATTERN = new RegExp(
  `^(${APP_PATHS.map((path) => path.replace(/:\w+/g, "[^/?#]+")).join("|")})/?([?#]|$)`,
);

/** Maximum number of workspaces in one response. */
export const MAX_WORKSPACES = 100;

/**
 * Requests that every page with a session sends first, exactly as the API client writes them. The server has the
 * browser send them while the script is loading. The responses are the same in every workspace.
 */
export const FIRST_READS: readonly string[] = [
  "/api/v1/users/me",
  "/api/v1/billing",
  `/api/v1/workspaces?limit=${MAX_WORKSPACES}`,
];
