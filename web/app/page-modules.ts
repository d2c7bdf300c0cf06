/**
 * The modules of pages that are loaded when they are first opened, by path. The build reads this table too, and tells browsers which files a
 * page needs. Pure.
 */

export const PAGE_MODULES = {
  "/sign-in": () => import("../pages/sign-in/sign-in-page"),
  "/sign-up": () => import("../pages/sign-in/sign-up-page"),
  "/setup": () => import("../pages/sign-in/setup-page"),
  "/forgot-password": () => import("../pages/sign-in/forgot-password-page"),
  "/reset-password": () => import("../pages/sign-in/reset-password-page"),
  "/verify-email": () => import("../pages/sign-in/verify-email-page"),
  "/invitation": () => import("../pages/sign-in/invitation-page"),
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
  "/status": () => import("../pages/status/status-page"),
};

/** Those that only administrators see. */
export const ADMIN_PAGE_MODULES = {
  "/admin/users": () => import("../pages/admin/users/users-page"),
  "/admin/users/:userId": () => import("../pages/admin/users/user-page"),
  "/admin/orders": () => import("../pages/admin/orders/orders-page"),
  "/admin/jobs": () => import("../pages/admin/jobs/jobs-page"),
  "/admin/workers": () => import("../pages/admin/workers/workers-page"),
  "/admin/workers/:workerId": () => import("../pages/admin/workers/worker-page"),
  "/admin/storage": () => import("../pages/admin/storage/storage-page"),
  "/admin/backups": () => import("../pages/admin/backups/backups-page"),
  "/admin/health": () => import("../pages/admin/health/health-page"),
  "/admin/audit": () => import("../pages/admin/audit/audit-page"),
};
