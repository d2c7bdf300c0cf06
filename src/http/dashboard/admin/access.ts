/** The access that all administration routes require. */
import type { RouteAccess } from "../../../work/access/access";

/** The administrator's workspace does not matter. */
export const ADMIN_ACCESS = {
  credential: "fresh-session",
  role: "admin",
  target: "account",
} as const satisfies Partial<RouteAccess>;
