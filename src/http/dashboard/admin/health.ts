/** The state of the server, for administrators. */
import type { SystemHealth } from "../../../work/health/system-health";
import { ok } from "../../call";
import { respondsWith } from "../../response-docs";
import { route } from "../../route";
import { type Resource, SCHEMAS, showRow } from "../../schemas";
import { showDisk } from "./storage";

const schemas = SCHEMAS.SystemHealth.properties;

const showHealth = (health: SystemHealth): Resource<"SystemHealth"> =>
  showRow(SCHEMAS.SystemHealth, health, {
    problems: health.problems.map((problem) => showRow(schemas.problems.items, problem, {})),
    disk: showDisk(health.disk),
    database: { is_alive: health.database.isAlive, size_bytes: health.database.bytes },
    ffmpeg: showRow(schemas.ffmpeg, health.ffmpeg, {}),
    encoders: health.encoders && {
      in_use: health.encoders.inUse,
      video: health.encoders.video,
      audio: health.encoders.audio,
    },
    models: health.models.map((model) => showRow(schemas.models.items, model, { languages: [...model.languages] })),
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
