/** Maps paths to pages. All pages except the list of projects are loaded when they are first opened. */
import type { FunctionComponent } from "preact";
import { ProjectsPage } from "../pages/projects/projects-page";
import { adminPage } from "./admin-only";
import { type LazyPage, lazyPage } from "./lazy-page";
import type { OPEN_PATHS, PLAIN_PATHS, SHELL_PATHS } from "./paths";

type Pages<Path extends string> = Record<Path, FunctionComponent>;

export const OPEN_PAGES: Pages<(typeof OPEN_PATHS)[number]> = {
  "/sign-in": lazyPage(() => import("../pages/sign-in/sign-in-page")),
  "/sign-up": lazyPage(() => import("../pages/sign-in/sign-up-page")),
  "/setup": lazyPage(() => import("../pages/sign-in/setup-page")),
  "/forgot-password": lazyPage(() => import("../pages/sign-in/forgot-password-page")),
  "/reset-password": lazyPage(() => import("../pages/sign-in/reset-password-page")),
  "/verify-email": lazyPage(() => import("../pages/sign-in/verify-email-page")),
  "/invitation": lazyPage(() => import("../pages/sign-in/invitation-page")),
};

export const PLAIN_PAGES: Pages<(typeof PLAIN_PATHS)[number]> = {
  "/oauth/device": lazyPage(() => import("../pages/device/device-page")),
};

export const SHELL_PAGES: Pages<(typeof SHELL_PATHS)[number]> = {
  "/": ProjectsPage,
  "/projects": ProjectsPage,
  "/projects/:projectId": lazyPage(() => import("../pages/project/project-page")),
  "/assets/:assetId": lazyPage(() => import("../pages/asset/asset-page")),
  "/orders/:orderId": lazyPage(() => import("../pages/order/order-page")),
  "/admin/users": adminPage(() => import("../pages/admin/users/users-page")),
  "/admin/users/:userId": adminPage(() => import("../pages/admin/users/user-page")),
  "/admin/orders": adminPage(() => import("../pages/admin/orders/orders-page")),
  "/admin/jobs": adminPage(() => import("../pages/admin/jobs/jobs-page")),
  "/admin/workers": adminPage(() => import("../pages/admin/workers/workers-page")),
  "/admin/workers/:workerId": adminPage(() => import("../pages/admin/workers/worker-page")),
  "/admin/storage": adminPage(() => import("../pages/admin/storage/storage-page")),
  "/admin/backups": adminPage(() => import("../pages/admin/backups/backups-page")),
  "/admin/health": adminPage(() => import("../pages/admin/health/health-page")),
  "/admin/audit": adminPage(() => import("../pages/admin/audit/audit-page")),
  "/credits": lazyPage(() => import("../pages/credits/credits-page")),
  "/credits/history": lazyPage(() => import("../pages/credits/history-page")),
  "/credits/orders": lazyPage(() => import("../pages/credits/orders-page")),
  "/credits/invoices": lazyPage(() => import("../pages/credits/invoices-page")),
  "/keys": lazyPage(() => import("../pages/keys/keys-page")),
  "/webhooks": lazyPage(() => import("../pages/webhooks/webhooks-page")),
  "/webhooks/:endpointId": lazyPage(() => import("../pages/webhooks/endpoint-page")),
  "/account": lazyPage(() => import("../pages/account/profile-page")),
  "/account/security": lazyPage(() => import("../pages/account/security-page")),
  "/account/notifications": lazyPage(() => import("../pages/account/notifications-page")),
  "/account/data": lazyPage(() => import("../pages/account/data-page")),
  "/workspaces": lazyPage(() => import("../pages/workspaces/workspaces-page")),
  "/workspaces/:workspaceId": lazyPage(() => import("../pages/workspaces/workspace-page")),
  "/jobs": lazyPage(() => import("../pages/jobs/jobs-page")),
  "/jobs/:pipelineId": lazyPage(() => import("../pages/jobs/job-page")),
  "/notifications": lazyPage(() => import("../pages/notifications/notifications-page")),
  "/status": lazyPage(() => import("../pages/status/status-page")),
};

/** Preloads the page of a path while the session is loading. Administration pages wait for the session. */
export function preloadPage(path: string): void {
  const segments = path.replace(/\/$/, "").split("/");
  const isMatch = (pattern: string) => {
    const parts = pattern.split("/");
    return parts.length === segments.length && parts.every((part, n) => part === segments[n] || part.startsWith(":"));
  };
  const found = Object.entries({ ...OPEN_PAGES, ...PLAIN_PAGES, ...SHELL_PAGES }).find(([pattern]) => isMatch(pattern));
  if (found !== undefined && "preload" in found[1]) void (found[1] as LazyPage).preload();
}

export const NotFound = lazyPage(() => import("../pages/not-found"));
