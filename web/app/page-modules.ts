/**
 * The modules of pages that are loaded when they are first opened, by path. The build also reads this table, to list
 * the files of each page for browsers. Pure.
 */

export const PAGE_MODULES = {
  "/oauth/device": () => import("../pages/device/device-page"),
  "/projects/:projectId": () => import("../pages/project/project-page"),
  "/assets/:assetId": () => import("../pages/asset/asset-page"),
  "/orders/:orderId": () => import("../pages/order/order-page"),
  "/credits": () => import("../pages/credits/credits-page"),
  "/credits/history": () => import("../pages/credits/history-page"),
  "/credits/orders": () => import("../pages/credits/orders-page"),
  "/credits/invoices": () => import("../pages/credits/invoices-page"),
  "/keys": () => import("../pages/keys/keys-page"),
  "/webhooks": () => import("../pages/webhooks/webhooks-page"),
  "/webhooks/:endpointId": () => import("../pages/webhooks/endpoint-page"),
  "/account": () => import("../pages/account/profile-page"),
  "/account/security": () => import("../pages/account/security-page"),
  "/account/notifications": () => import("../pages/account/notifications-page"),
  "/account/data": () => import("../pages/account/data-page"),
  "/workspaces": () => import("../pages/workspaces/workspaces-page"),
  "/workspaces/:workspaceId": () => import("../pages/workspaces/workspace-page"),
  "/jobs": () => import("../pages/jobs/jobs-page"),
  "/jobs/:pipelineId": () => import("../pages/jobs/job-page"),
  "/notifications": () => import("../pages/notifications/notifications-page"),
  "/settings": () => import("../pages/settings/settings-page"),
  "/status": () => import("../pages/status/status-page"),
};

/** Files of styles besides that of all pages with a session. */
export type StyleName = "signed-in" | "pages" | "admin" | "editor";

/** Returns the styles that a page of `PAGE_MODULES` needs besides those of all pages with a session. */
export const findStyle = (path: string): StyleName => (path === "/assets/:assetId" ? "editor" : "pages");
