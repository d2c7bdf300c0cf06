/** The dashboard family: the whole route table, which is its own routes and the public resources. */
import { publicRoutes } from "../public";
import { createRoutes } from "../route";
import * as auth from "./auth";
import * as password from "./password";
import * as profile from "./profile";
import * as sessions from "./sessions";

/** The prefix of the dashboard family. */
export const DASHBOARD_PREFIX = "/api/v1";

const ownRoutes = createRoutes([
  ["GET", "/auth/methods", auth.methods],
  ["POST", "/auth/setup", auth.setup],
  ["POST", "/auth/signup", auth.signup],
  ["POST", "/auth/login", auth.login],
  ["POST", "/auth/logout", auth.logout],

  ["GET", "/sessions", sessions.list],
  ["DELETE", "/sessions/:session_id", sessions.remove],

  ["GET", "/users/me", profile.readMe],
  ["PATCH", "/users/me", profile.updateMe],
  ["PUT", "/users/me/password", password.update],
]);

/** Resources with a form of their own in this family replace the public ones. */
const isOwn = ({ method, path }: { method: string; path: string }): boolean =>
  ownRoutes.some((own) => own.method === method && own.path === path);

export const dashboardRoutes = [...ownRoutes, ...publicRoutes.filter((route) => !isOwn(route))];
