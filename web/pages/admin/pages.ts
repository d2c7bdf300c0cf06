/** The pages of administration by their paths, which are loaded together. */

import AuditPage from "./audit/audit-page";
import BackupsPage from "./backups/backups-page";
import HealthPage from "./health/health-page";
import JobsPage from "./jobs/jobs-page";
import OrdersPage from "./orders/orders-page";
import StoragePage from "./storage/storage-page";
import UserPage from "./users/user-page";
import UsersPage from "./users/users-page";
import WorkerPage from "./workers/worker-page";
import WorkersPage from "./workers/workers-page";

export const PAGES = {
  "/admin/users": UsersPage,
  "/admin/users/:userId": UserPage,
  "/admin/orders": OrdersPage,
  "/admin/jobs": JobsPage,
  "/admin/workers": WorkersPage,
  "/admin/workers/:workerId": WorkerPage,
  "/admin/storage": StoragePage,
  "/admin/backups": BackupsPage,
  "/admin/health": HealthPage,
  "/admin/audit": AuditPage,
};
