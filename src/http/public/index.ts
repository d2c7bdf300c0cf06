/** The public resources: the whole route table. A family that mounts it adds the TUS surface under `/uploads`. */
import { createRoutes } from "../route";
import * as account from "./account";
import * as assets from "./assets";
import * as cutExports from "./cut-exports";
import * as cuts from "./cuts";
import * as projects from "./projects";
import * as renders from "./renders";
import * as webhooks from "./webhook-endpoints";

export const PUBLIC_PREFIX = "/v1";

export const publicRoutes = createRoutes([
  ["POST", "/projects", projects.create],
  ["GET", "/projects", projects.list],
  ["GET", "/projects/:project_id", projects.read],
  ["PATCH", "/projects/:project_id", projects.update],
  ["DELETE", "/projects/:project_id", projects.remove],

  ["POST", "/assets", assets.create],
  ["GET", "/assets", assets.list],
  ["GET", "/assets/:asset_id", assets.read],
  ["DELETE", "/assets/:asset_id", assets.remove],

  ["POST", "/cuts", cuts.create],
  ["GET", "/cuts", cuts.list],
  ["GET", "/cuts/:cut_id", cuts.read],
  ["POST", "/cuts/:cut_id/edits", cuts.edit],
  ["GET", "/cuts/:cut_id/export", cutExports.exportTimeline],
  ["GET", "/cuts/:cut_id/subtitle", cutExports.readSubtitle],
  ["GET", "/cuts/:cut_id/transcript", cutExports.readCutTranscript],
  ["DELETE", "/cuts/:cut_id", cuts.remove],

  ["POST", "/renders", renders.create],
  ["GET", "/renders", renders.list],
  ["GET", "/renders/:render_id", renders.read],
  ["POST", "/renders/:render_id/cancel", renders.cancel],
  ["DELETE", "/renders/:render_id", renders.remove],

  ["GET", "/users/me", account.readMe],
  ["GET", "/credits/history", account.listCredits],

  ["POST", "/webhook-endpoints", webhooks.create],
  ["GET", "/webhook-endpoints", webhooks.list],
  ["GET", "/webhook-endpoints/:endpoint_id", webhooks.read],
  ["PATCH", "/webhook-endpoints/:endpoint_id", webhooks.update],
  ["DELETE", "/webhook-endpoints/:endpoint_id", webhooks.remove],
  ["POST", "/webhook-endpoints/:endpoint_id/rotate-secret", webhooks.rotate],
  ["POST", "/webhook-endpoints/:endpoint_id/test", webhooks.test],
  ["GET", "/webhook-endpoints/:endpoint_id/deliveries", webhooks.listSent],
  ["GET", "/webhook-endpoints/:endpoint_id/deliveries/:delivery_id", webhooks.readSent],
  ["POST", "/webhook-endpoints/:endpoint_id/deliveries/:delivery_id/resend", webhooks.resend],
]);
