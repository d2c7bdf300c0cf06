/** Jobs, storage and health of the server, for administrators. */
import { Type } from "@sinclair/typebox";
import { JOB_NAMES } from "../../../domain/jobs";
import { STEP_STATES } from "../../../domain/states";
import { type ListedJob, listJobs } from "../../../store/job-list";
import { listStorageByWorkspace, type WorkspaceStorage } from "../../../store/storage";
import { getEffectiveQuota } from "../../../work/storage-limits";
import type { SystemHealth } from "../../../work/system-health";
import { type Call, ok } from "../../call";
import { oneOf, uuidField } from "../../fields";
import { formatTime } from "../../format-time";
import { offsetListRoute } from "../../offset-list-route";
import { respondsWith } from "../../response-docs";
import { route } from "../../route";
import type { Resource } from "../../schemas";
import { ADMIN_ACCESS } from "./access";

const showJob = (_: Call, job: ListedJob): Resource<"AdminJob"> => {
  const { step, userId, email } = job;
  return {
    id: step.id,
    pipeline_id: step.pipeline_id,
    name: step.processor_name,
    state: step.state,
    progress: step.progress,
    attempts: step.attempts,
    subject_id: step.subject_id,
    input_asset_id: step.input_asset_id,
    workspace: { id: step.workspace_id, name: job.workspaceName },
    created_by: userId !== null && email !== null ? { id: userId, email } : null,
    error_code: job.errorCode,
    error_message: job.errorMessage,
    created_at: formatTime(step.created_at),
    started_at: formatTime(step.started_at),
    finished_at: formatTime(step.finished_at),
  };
};

export const listAllJobs = offsetListRoute({
  summary: "List the jobs of all workspaces, newest first",
  access: ADMIN_ACCESS,
  filters: {
    state: Type.Optional(oneOf(...STEP_STATES)),
    name: Type.Optional(oneOf(...JOB_NAMES)),
    user_id: Type.Optional(uuidField("who started the job")),
    workspace_id: Type.Optional(uuidField("where the job runs")),
  },
  item: "AdminJob",
  description: "A page of jobs",
  read: ({ services }, { filters, ...page }) => {
    const { state, name, user_id: userId, workspace_id: workspaceId } = filters;
    const filter = { state, name, userId: userId?.toLowerCase(), workspaceId: workspaceId?.toLowerCase() };
    return listJobs(services.store.read, filter, page);
  },
  show: showJob,
});

const showStorage = ({ services }: Call, row: WorkspaceStorage): Resource<"WorkspaceStorage"> => ({
  workspace: { id: row.id, name: row.name, is_personal: row.isPersonal },
  owners: row.owners,
  used_bytes: row.sourceBytes + row.derivedBytes + row.renderBytes,
  source_bytes: row.sourceBytes,
  derived_bytes: row.derivedBytes,
  render_bytes: row.renderBytes,
  storage_quota_bytes: getEffectiveQuota(services, row.quotaBytes),
});

export const listStorage = offsetListRoute({
  summary: "List what each workspace occupies, largest first",
  access: ADMIN_ACCESS,
  filters: {},
  item: "WorkspaceStorage",
  description: "A page of workspaces",
  read: ({ services }, { limit, offset }) => listStorageByWorkspace(services.store.read, { limit, offset }),
  show: showStorage,
});

const showHealth = (health: SystemHealth): Resource<"SystemHealth"> => ({
  status: health.status,
  version: health.version,
  disk: {
    free_bytes: health.disk.freeBytes,
    total_bytes: health.disk.totalBytes,
    reserve_bytes: health.disk.reserveBytes,
    is_low: health.disk.isLow,
  },
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
  queue: health.queue,
  webhooks: { pending_deliveries: health.pendingDeliveries },
});

export const readHealth = route({
  summary: "Retrieve the state of the server: disk, database, ffmpeg, encoders, models and queue",
  access: ADMIN_ACCESS,
  responses: { 200: respondsWith("SystemHealth", "The state of the server") },
  handle: async ({ services }) => ok(showHealth(await services.readHealth())),
});
