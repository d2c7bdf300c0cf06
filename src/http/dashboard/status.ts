/** The server status for every user: version, state of the components, and licenses of the bundled software. */
import { AppError } from "../../domain/errors";
import type { RouteAccess } from "../../work/access/access";
import type { SystemHealth } from "../../work/health/system-health";
import { ok } from "../call";
import { respondsWith, respondsWithFile } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

const ACCESS: Partial<RouteAccess> = { inGrace: true, target: "account" };

/** Omits sizes, paths and counts, which only administrators see. */
function showStatus(
  { status, version, disk, encoders, models, damagedModels }: SystemHealth,
  email: boolean,
): Resource<"ServerStatus"> {
  return {
    status,
    version,
    parts: {
      uploads: disk.isLow ? "unavailable" : "ok",
      renders: encoders === null ? "starting" : encoders.inUse === null || disk.isLow ? "unavailable" : "ok",
      speech_recognition: damagedModels.length > 0 ? "limited" : "ok",
      email: email ? "ok" : "off",
    },
    languages: [...new Set(models.flatMap(({ languages }) => languages))].sort(),
  };
}

export const readStatus = route({
  summary: "Retrieve the version and the status of the server",
  access: ACCESS,
  responses: { 200: respondsWith("ServerStatus", "The status of the server") },
  handle: async ({ services }) => ok(showStatus(await services.readHealth(), services.mails.isConfigured)),
});

export const readLicenses = route({
  summary: "Read the licenses of Offcut and of the bundled software",
  access: ACCESS,
  responses: { 200: respondsWithFile("`text/plain`: one text for each, with a line of 100 hyphens between them") },
  handle: async ({ services }) => {
    const file = Bun.file(services.licensesPath);
    if (!(await file.exists())) throw new AppError("not_found", "Licenses are collected by the build.");
    return { status: 200, file, headers: { "Content-Type": "text/plain; charset=utf-8" } };
  },
});
