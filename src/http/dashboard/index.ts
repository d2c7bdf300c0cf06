/** The dashboard family: the whole route table, which is its own routes and the public resources. */
import { publicRoutes } from "../public";
import { createRoutes } from "../route";
import * as adminAudit from "./admin/audit";
import * as adminServer from "./admin/server";
import * as adminUsers from "./admin/users";
import * as auth from "./auth";
import * as authLinks from "./auth-links";
import * as deletion from "./deletion";
import * as oidc from "./oidc";
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
  ["GET", "/auth/oidc/start", oidc.start],
  ["GET", "/auth/oidc/callback", oidc.callback],

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

  ["DELETE", "/users/me", deletion.remove],
  ["POST", "/users/me/restore", deletion.restore],

  ["GET", "/admin/users", adminUsers.list],
  ["POST", "/admin/users", adminUsers.invite],
  ["GET", "/admin/users/:user_id", adminUsers.read],
  ["PATCH", "/admin/users/:user_id", adminUsers.update],
  ["DELETE", "/admin/users/:user_id", adminUsers.remove],
  ["POST", "/admin/users/:user_id/restore", adminUsers.restore],
  ["POST", "/admin/users/:user_id/credits", adminUsers.addCredits],
  ["POST", "/admin/users/:user_id/password-reset", adminUsers.createPasswordLink],
  ["GET", "/admin/jobs", adminServer.listAllJobs],
  ["GET", "/admin/storage", adminServer.listStorage],
  ["GET", "/admin/health", adminServer.readHealth],
  ["GET", "/admin/audit", adminAudit.list],
  ["GET", "/admin/audit/export", adminAudit.exportAll],
]);

/** Resources with a form of their own in this family replace the public ones. */
const isOwn = ({ method, path }: { method: string; path: string }): boolean =>
  ownRoutes.some((own) => own.method === method && own.path === path);

export const dashboardRoutes = [...ownRoutes, ...publicRoutes.filter((route) => !isOwn(route))];
