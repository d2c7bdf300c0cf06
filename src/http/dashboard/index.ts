/** The dashboard family: the whole route table, which is its own routes and the public resources. */
import { publicRoutes } from "../public";
import { createRoutes } from "../route";
import * as auth from "./auth";
import * as authLinks from "./auth-links";
import * as password from "./password";
import * as profile from "./profile";
import * as sessions from "./sessions";
import * as twoFactor from "./two-factor";
import * as workspaceMembers from "./workspace-members";
import * as workspaces from "./workspaces";

/** The prefix of the dashboard family. */
export const DASHBOARD_PREFIX = "/api/v1";

const ownRoutes = createRoutes([
  ["GET", "/auth/methods", auth.methods],
  ["POST", "/auth/setup", auth.setup],
  ["POST", "/auth/signup", auth.signup],
  ["POST", "/auth/login", auth.login],
  ["POST", "/auth/login/two-factor", twoFactor.login],
  ["POST", "/auth/logout", auth.logout],
  ["POST", "/auth/verify-email", authLinks.verifyEmail],
  ["POST", "/auth/password/forgot", authLinks.forgotPassword],
  ["POST", "/auth/password/reset", authLinks.resetPassword],
  ["POST", "/auth/invitation", authLinks.acceptInvitation],

  ["GET", "/sessions", sessions.list],
  ["DELETE", "/sessions/:session_id", sessions.remove],

  ["GET", "/users/me", profile.readMe],
  ["PATCH", "/users/me", profile.updateMe],
  ["PUT", "/users/me/password", password.update],
  ["POST", "/users/me/email-verification", authLinks.requestVerification],
  ["POST", "/users/me/two-factor", twoFactor.enroll],
  ["POST", "/users/me/two-factor/confirm", twoFactor.confirm],
  ["DELETE", "/users/me/two-factor", twoFactor.remove],

  ["GET", "/workspaces", workspaces.list],
  ["POST", "/workspaces", workspaces.create],
  ["GET", "/workspaces/:workspace_id", workspaces.read],
  ["PATCH", "/workspaces/:workspace_id", workspaces.update],
  ["DELETE", "/workspaces/:workspace_id", workspaces.remove],
  ["GET", "/workspaces/:workspace_id/members", workspaceMembers.list],
  ["POST", "/workspaces/:workspace_id/members", workspaceMembers.add],
  ["PATCH", "/workspaces/:workspace_id/members/:user_id", workspaceMembers.update],
  ["DELETE", "/workspaces/:workspace_id/members/:user_id", workspaceMembers.remove],
]);

/** Resources with a form of their own in this family replace the public ones. */
const isOwn = ({ method, path }: { method: string; path: string }): boolean =>
  ownRoutes.some((own) => own.method === method && own.path === path);

export const dashboardRoutes = [...ownRoutes, ...publicRoutes.filter((route) => !isOwn(route))];
