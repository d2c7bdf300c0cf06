/** The dashboard family: the whole route table, which is its own routes and the public resources. */
import { publicRoutes } from "../public";
import * as renders from "../public/renders";
import { createRoutes } from "../route";
import { RESUMABLE_PATH } from "../uploads/protocol-headers";
import * as adminAudit from "./admin/audit";
import * as adminBackups from "./admin/backups";
import * as adminHealth from "./admin/health";
import * as adminJobs from "./admin/jobs";
import * as adminOrders from "./admin/orders";
import * as adminStorage from "./admin/storage";
import * as adminUsers from "./admin/users";
import * as adminWorkers from "./admin/workers";
import * as assetChanges from "./asset-changes";
import * as assetMedia from "./asset-media";
import * as assetPieces from "./asset-pieces";
import * as auth from "./auth";
import * as authLinks from "./auth-links";
import * as batchExports from "./batch-exports";
import * as billing from "./billing";
import * as credits from "./credits";
import * as drafts from "./drafts";
import * as liveEvents from "./live-events";
import * as notifications from "./notifications";
import * as oidc from "./oidc";
import * as pipelines from "./pipelines";
import * as profile from "./profile";
import * as projects from "./projects";
import * as receivedInvitations from "./received-invitations";
import * as renderShares from "./render-shares";
import * as review from "./review";
import * as search from "./search";
import * as sessions from "./sessions";
import * as sortedLists from "./sorted-lists";
import * as status from "./status";
import * as twoFactor from "./two-factor";
import * as uploads from "./uploads";
import * as vocabulary from "./vocabulary";
import * as workspaceMembers from "./workspace-members";
import * as workspaces from "./workspaces";

export const DASHBOARD_PREFIX = "/api/v1";

/** All routes for administrators, whose workspace does not matter. */
const adminRoutes = createRoutes(
  [
    ["GET", "/admin/users", adminUsers.list],
    ["POST", "/admin/users", adminUsers.invite],
    ["GET", "/admin/users/:user_id", adminUsers.read],
    ["PATCH", "/admin/users/:user_id", adminUsers.update],
    ["DELETE", "/admin/users/:user_id", adminUsers.remove],
    ["POST", "/admin/users/:user_id/restore", adminUsers.restore],
    ["POST", "/admin/users/:user_id/credits", adminUsers.addCredits],
    ["POST", "/admin/users/:user_id/password-reset", adminUsers.createPasswordLink],
    ["GET", "/admin/orders", adminOrders.list],
    ["GET", "/admin/orders/:order_id", adminOrders.read],
    ["POST", "/admin/orders/:order_id/approve", adminOrders.approve],
    ["POST", "/admin/orders/:order_id/reject", adminOrders.reject],
    ["GET", "/admin/jobs", adminJobs.list],
    ["POST", "/admin/jobs/:job_id/cancel", adminJobs.cancel],
    ["GET", "/admin/storage", adminStorage.list],
    ["GET", "/admin/storage/totals", adminStorage.readTotals],
    ["GET", "/admin/backups", adminBackups.list],
    ["POST", "/admin/backups", adminBackups.create],
    ["POST", "/admin/backups/drill", adminBackups.drill],
    ["POST", "/admin/backups/:run_id/verify", adminBackups.verify],
    ["GET", "/admin/storage/checks", adminStorage.readChecks],
    ["GET", "/admin/storage/findings", adminStorage.listFindings],
    ["POST", "/admin/storage/findings/resolve", adminStorage.resolveFindings],
    ["GET", "/admin/health", adminHealth.read],
    ["GET", "/admin/workers", adminWorkers.list],
    ["GET", "/admin/workers/:worker_id", adminWorkers.read],
    ["POST", "/admin/workers/:worker_id/drain", adminWorkers.drain],
    ["POST", "/admin/workers/:worker_id/resume", adminWorkers.resume],
    ["POST", "/admin/workers/:worker_id/revoke", adminWorkers.revoke],
    ["GET", "/admin/worker-tokens", adminWorkers.listTokens],
    ["POST", "/admin/worker-tokens", adminWorkers.createToken],
    ["DELETE", "/admin/worker-tokens/:token_id", adminWorkers.removeToken],
    ["GET", "/admin/audit", adminAudit.list],
    ["GET", "/admin/audit/export", adminAudit.exportAll],
  ],
  { credential: "fresh-session", role: "admin", target: "account" },
);

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

  ["GET", "/events", liveEvents.list],
  ["GET", "/pipelines/:pipeline_id/events", liveEvents.listOfPipeline],

  ["GET", "/search", search.list],

  ["GET", "/vocabulary", vocabulary.read],
  ["PUT", "/vocabulary", vocabulary.update],
  ["GET", "/vocabulary/common-form", vocabulary.readCommonForm],

  ["GET", "/status", status.readStatus],
  ["GET", "/licenses", status.readLicenses],

  ["GET", "/sessions", sessions.list],
  ["DELETE", "/sessions", sessions.removeOthers],
  ["DELETE", "/sessions/:session_id", sessions.remove],

  ["GET", "/users/me", profile.readMe],
  ["PATCH", "/users/me", profile.updateMe],
  ["PUT", "/users/me/password", auth.updatePassword],
  ["POST", "/users/me/email-verification", authLinks.requestVerification],
  ["GET", "/users/me/identities", sessions.listIdentities],
  ["DELETE", "/users/me/identities/:identity_id", sessions.removeIdentity],
  ["GET", "/users/me/two-factor", twoFactor.read],
  ["POST", "/users/me/two-factor", twoFactor.enroll],
  ["POST", "/users/me/two-factor/confirm", twoFactor.confirm],
  ["POST", "/users/me/two-factor/recovery-codes", twoFactor.replaceCodes],
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
  ["GET", "/workspaces/:workspace_id/invitations", workspaceMembers.listPending],
  ["DELETE", "/workspaces/:workspace_id/invitations/:invitation_id", workspaceMembers.revokePending],

  ["GET", "/invitations", receivedInvitations.list],
  ["POST", "/invitations/read", receivedInvitations.readLink],
  ["POST", "/invitations/accept", receivedInvitations.acceptLink],
  ["POST", "/invitations/:invitation_id/accept", receivedInvitations.acceptListed],
  ["POST", "/invitations/:invitation_id/decline", receivedInvitations.decline],

  ["GET", "/billing", billing.readBilling],
  ["GET", "/billing/prices", billing.listPrices],
  ["POST", "/billing/checkout", billing.checkout],
  ["GET", "/billing/orders", billing.listWorkspaceOrders],
  ["GET", "/billing/orders/:order_id", billing.readOrder],
  ["POST", "/billing/orders/:order_id/checkout", billing.resumeOrder],
  ["POST", "/billing/orders/:order_id/cancel", billing.removeOrder],
  ["GET", "/billing/invoices", billing.listWorkspaceInvoices],
  ["GET", "/billing/subscription", billing.readSubscription],
  ["DELETE", "/billing/subscription", billing.removeSubscription],
  ["POST", "/billing/webhook", billing.receiveEvent],
  ["GET", "/credits/balance", credits.readCreditBalance],
  ["GET", "/credits/holds", credits.listActiveHolds],
  ["GET", "/credits/history", credits.listHistory],
  ["GET", "/credits/history/export", credits.exportHistory],
  ["GET", "/projects", sortedLists.projects],
  ["POST", "/projects", projects.create],
  ["PATCH", "/projects/:project_id", projects.update],
  ["GET", "/projects/:project_id/summary", projects.readSummary],
  ["GET", "/assets", sortedLists.assets],
  ["GET", "/renders", renders.listWithDetails],

  ["DELETE", "/users/me", profile.removeMe],
  ["POST", "/users/me/restore", profile.restoreMe],
  ["GET", "/users/me/export", profile.readExport],
  ["POST", "/users/me/export", profile.createExport],

  ["GET", "/notifications", notifications.list],
  ["POST", "/notifications/read", notifications.markAll],
  ["POST", "/notifications/:notification_id/read", notifications.markRead],
  ["GET", "/notifications/preferences", notifications.readPreferences],
  ["PATCH", "/notifications/preferences", notifications.updatePreferences],

  ["GET", "/uploads/limits", uploads.readLimits],
  ["POST", "/assets/upload-url", uploads.createSigned],
  ["POST", RESUMABLE_PATH, uploads.createResumable],

  ["POST", "/exports", batchExports.create],
  ["GET", "/exports/:export_id", batchExports.read],
  ["GET", "/exports/:export_id/file", batchExports.download],
  ["DELETE", "/exports/:export_id", batchExports.remove],

  ["PATCH", "/assets/:asset_id", assetChanges.update],
  ["GET", "/assets/:asset_id/cut-after-upload", assetChanges.readPlannedCut],
  ["PUT", "/assets/:asset_id/cut-after-upload", assetChanges.updatePlannedCut],
  ["GET", "/assets/:asset_id/media", assetMedia.readMedia],
  ["GET", "/assets/:asset_id/poster", assetMedia.poster],
  ["GET", "/assets/:asset_id/filmstrip", assetMedia.filmstrip],
  ["GET", "/assets/:asset_id/envelope", assetMedia.envelope],
  ["GET", "/assets/:asset_id/preview", assetMedia.preview],
  ["GET", "/assets/:asset_id/waveform", assetMedia.waveform],
  ["GET", "/assets/:asset_id/loudness", assetMedia.loudness],
  ["GET", "/assets/:asset_id/storyboard", assetMedia.storyboard],
  ["GET", "/assets/:asset_id/storyboard/:sheet", assetMedia.storyboardSheet],
  ["GET", "/assets/:asset_id/transcript", assetMedia.transcript],
  ["GET", "/assets/:asset_id/transcript/partial", assetMedia.partialTranscript],
  ["GET", "/assets/:asset_id/pieces/:track", assetPieces.read],
  ["GET", "/cuts/:cut_id", drafts.readCut],
  ["PATCH", "/cuts/:cut_id", drafts.updateLabel],
  ["GET", "/cuts/:cut_id/explanation", drafts.readExplanation],
  ["GET", "/cuts/:cut_id/draft", drafts.read],
  ["PUT", "/cuts/:cut_id/draft", drafts.update],
  ["DELETE", "/cuts/:cut_id/draft", drafts.remove],
  ["GET", "/cuts/:cut_id/review", review.read],
  ["PATCH", "/cuts/:cut_id/review", review.update],
  ["PUT", "/cuts/:cut_id/presence", liveEvents.enter],
  ["DELETE", "/cuts/:cut_id/presence", liveEvents.leave],
  ["POST", "/renders/:render_id/share", renderShares.create],
  ["GET", "/renders/:render_id/shares", renderShares.list],
  ["DELETE", "/renders/:render_id/shares/:share_id", renderShares.revoke],

  ["POST", "/pipelines", pipelines.create],
  ["GET", "/pipelines", pipelines.list],
  ["GET", "/pipelines/:pipeline_id", pipelines.read],
  ["POST", "/pipelines/:pipeline_id/cancel", pipelines.cancel],
  ["POST", "/pipelines/:pipeline_id/steps/:step_id/retry", pipelines.retry],
]);

/** Resources with a form of their own in this family replace the public ones. */
const isOwn = ({ method, path }: { method: string; path: string }): boolean =>
  ownRoutes.some((own) => own.method === method && own.path === path);

export const dashboardRoutes = [...ownRoutes, ...adminRoutes, ...publicRoutes.filter((route) => !isOwn(route))];
