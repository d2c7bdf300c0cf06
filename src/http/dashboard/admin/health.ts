/** The state of the server, for administrators. */
import type { SystemHealth } from "../../../work/health/system-health";
import { ok } from "../../call";
import { formatTime } from "../../format-time";
import { respondsWith } from "../../response-docs";
import { route } from "../../route";
import type { Resource } from "../../schemas";
import { ADMIN_ACCESS } from "./access";
import { showDisk } from "./storage";

const showHealth = (health: SystemHealth): Resource<"SystemHealth"> => ({
  status: health.status,
  version: health.version,
  checks: health.checks,
  problems: health.problems.map(({ problem, severity, title, detail, found_at }) => ({
    problem,
    severity,
    title,
    detail,
    found_at: formatTime(found_at),
  })),
  disk: showDisk(health.disk),
  database: { is_alive: health.database.isAlive, size_bytes: health.database.bytes },
  ffmpeg: { path: health.ffmpeg.path, version: health.ffmpeg.version, is_bundled: health.ffmpeg.isBundled },
  sandbox: health.sandbox,
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
  queue: health.queue,
  webhooks: { pending_deliveries: health.pendingDeliveries },
});

export const read = route({
  summary: "Retrieve the state of the server: disk, database, ffmpeg, encoders, models and queue",
  access: ADMIN_ACCESS,
  responses: { 200: respondsWith("SystemHealth", "The state of the server") },
  handle: async ({ services }) => ok(showHealth(await services.readHealth())),
});
