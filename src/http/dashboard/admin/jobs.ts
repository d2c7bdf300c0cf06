/** Jobs of all workspaces, for administrators. */
import { Type } from "@sinclair/typebox";
import { JOB_NAMES } from "../../../domain/jobs";
import { oneOf, uuidField } from "../../../domain/schema-parts";
import { STEP_STATES } from "../../../domain/states";
import { findListedJob, type ListedJob, listJobs } from "../../../store/job-list";
import { cancelJob } from "../../../work/access/administration";
import { ok } from "../../call";
import { offsetListRoute } from "../../list-route";
import { respondsWith } from "../../response-docs";
import { createLoader, getResource, route } from "../../route";
import { type Resource, SCHEMAS, showRow } from "../../schemas";
import { toCallActor } from "../sign-in-client";

const showJob = ({ step, userId, email, ...job }: ListedJob): Resource<"AdminJob"> =>
  showRow(SCHEMAS.AdminJob, step, {
    name: step.processor_name,
    input_asset_name: job.assetName,
    workspace: { id: step.workspace_id, name: job.workspaceName },
    created_by: userId !== null && email !== null ? { id: userId, email } : null,
    error_code: job.errorCode,
    error_message: job.errorMessage,
  });

export const list = offsetListRoute({
  summary: "List the jobs of all workspaces, newest first",
  filters: {
    state: Type.Optional(oneOf(...STEP_STATES)),
    name: Type.Optional(oneOf(...JOB_NAMES)),
    user_id: Type.Optional(uuidField("who started the job")),
    workspace_id: Type.Optional(uuidField("where the job runs")),
  },
  item: "AdminJob",
  description: "A page of jobs",
  read: ({ services }, { filters, ...page }) => listJobs(services.store.read, filters, page),
  show: (_, job) => showJob(job),
});

const loadJob = createLoader("Job", "job_id", findListedJob);

export const cancel = route({
  summary: "Cancel a waiting or running job, and the later steps of its pipeline",
  load: loadJob,
  errors: ["conflict"],
  responses: { 200: respondsWith("AdminJob", "The cancelled job") },
  handle: async (call, { resource }) => {
    await cancelJob(call.services, toCallActor(call), resource);
    return ok(showJob(await getResource(call, loadJob)));
  },
});
