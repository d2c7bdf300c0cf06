/** The dashboard family: the whole route table, which is its own routes and the public resources. */
import { publicRoutes } from "../public";
import { createRoutes } from "../route";
import * as profile from "./profile";

/** The prefix of the dashboard family. */
export const DASHBOARD_PREFIX = "/api/v1";

const ownRoutes = createRoutes([
  ["GET", "/users/me", profile.readMe],
  ["PATCH", "/users/me", profile.updateMe],
]);

/** Resources with a form of their own in this family replace the public ones. */
const isOwn = ({ method, path }: { method: string; path: string }): boolean =>
  ownRoutes.some((own) => own.method === method && own.path === path);

export const dashboardRoutes = [...ownRoutes, ...publicRoutes.filter((route) => !isOwn(route))];
