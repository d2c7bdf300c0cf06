import { api } from "../../../app/api";
import { STEP_NAMES } from "../../../app/pipelines";
import { CancelButton } from "../../jobs/cancel-button";
import { mustAdmin } from "../admin-api";
import { type AdminJob, nameJobInput } from "./job-texts";

type CancelJobProps = { job: AdminJob; onCancelled(): Promise<void> };

/** A preparation ends when its recording is deleted, and a preview yields to other jobs. */
const isCancellable = ({ state, name }: AdminJob): boolean =>
  (state === "pending" || state === "running") && (name === "cut" || name === "render");

/** Cancels a job of any user. */
export function CancelJob({ job, onCancelled }: CancelJobProps) {
  const name = `${STEP_NAMES[job.name].toLowerCase()} of ${nameJobInput(job)}`;
  const cancel = async () => {
    const params = { path: { job_id: job.id } };
    await mustAdmin(api.POST("/api/v1/admin/jobs/{job_id}/cancel", { params }));
    await onCancelled();
  };
  return (
    <CancelButton jobName={name} isOffered={isCancellable(job)} onConfirm={cancel}>
      The <strong dir="auto">{name}</strong> in the workspace of{" "}
      <strong dir="auto">{job.created_by?.email ?? job.workspace.name}</strong> stops, with the steps after it.
      {job.state === "running" && ` The ${Math.round((job.progress ?? 0) * 100)}% completed so far is lost.`} The
      recording is kept, held credits are released, and the user can start it again.
    </CancelButton>
  );
}
