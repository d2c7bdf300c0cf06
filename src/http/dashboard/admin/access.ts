/** What all routes of administration need. */
import type { RouteAccess } from "../../../work/access/access";

/** Which workspace the administrator acts in does not matter. */
export const ADMIN_ACCESS = {
  credential: "fresh-session",
  role: "admin",
  target: "account",
} as const satisfies Partial<RouteAccess>;
