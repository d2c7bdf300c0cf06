/** The state of the server, for administrators. */
import type { SystemHealth } from "../../../work/health/system-health";
import { ok } from "../../call";
import { respondsWith } from "../../response-docs";
import { route } from "../../route";
import { type Resource, SCHEMAS } from "../../schemas";
import { showRow } from "../../show-row";
import { showDisk } from "./storage";

const problemSchema = SCHEMAS.SystemHealth.properties.problems.items;

const showHealth = (health: SystemHealth): Resource<"SystemHealth"> =>
  showRow(SCHEMAS.SystemHealth, health, {
    problems: health.problems.map((problem) => showRow(problemSchema, problem, {})),
    disk: showDisk(health.disk),
    database: { is_alive: health.database.isAlive, size_bytes: health.database.bytes },
    ffmpeg: { path: health.ffmpeg.path, version: health.ffmpeg.version, is_bundled: health.ffmpeg.isBundled },
    encoders: health.encoders && {
      in_use: health.encoders.inUse,
      video: health.encoders.video,
      audio: health.encoders.audio,
    },
    models: health.models.map((model) => ({
      name: model.name,
      languages: [...model.languages],
      is_built_in: model.isBuiltIn,
    })),
    damaged_models: health.damagedModels,
    redis: health.redis && {
      host: health.redis.host,
      is_reachable: health.redis.problem === null,
      version: health.redis.version,
    },
    webhooks: { pending_deliveries: health.pendingDeliveries },
  });

export const read = route({
  summary: "Retrieve the state of the server: disk, database, ffmpeg, encoders, models and queue",
  responses: { 200: respondsWith("SystemHealth", "The state of the server") },
  handle: async ({ services }) => ok(showHealth(await services.readHealth())),
});
