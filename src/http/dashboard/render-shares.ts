/** Share links: downloads of renders by people without an account. */
import { Type } from "@sinclair/typebox";
import { AppError } from "../../domain/errors";
import { created } from "../call";
import { strictObject } from "../fields";
import { formatTime } from "../format-time";
import { renderLoader } from "../public/renders";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

const MIN_LIFETIME_SECONDS = 3_600;
const MAX_LIFETIME_SECONDS = 30 * 86_400;

export const create = route({
  summary: "Create a link with which anybody can download a completed render. It ends with the render",
  example: { expires_in_seconds: 604_800 },
  errors: ["conflict"],
  body: strictObject({
    expires_in_seconds: Type.Integer({
      minimum: MIN_LIFETIME_SECONDS,
      maximum: MAX_LIFETIME_SECONDS,
      description: "How long the link works: an hour to 30 days",
      errorText: `must be an integer from ${MIN_LIFETIME_SECONDS} to ${MAX_LIFETIME_SECONDS}`,
    }),
  }),
  responses: { 201: respondsWith("ShareLink", "The link, which is not stored") },
  load: renderLoader,
  handle: async ({ services }, { body, resource }) => {
    if (resource.state !== "completed") throw new AppError("conflict", `Render is ${resource.state}, not completed.`);
    // The file system may have lost it, or a backup without media was restored.
    if (!(await Bun.file(services.folders.renderOutput(resource.id, resource.resolved.format)).exists()))
      throw new AppError("conflict", "The file of this render is missing. Delete the render and start it again.");
    const { url, expiresAt } = services.links.signShare(resource.id, body.expires_in_seconds, services.now());
    return created(url, { url, expires_at: formatTime(expiresAt) } satisfies Resource<"ShareLink">);
  },
});
