/** Logs which due jobs are waiting, and the reason. */
import type { DueJob, JobName } from "../domain/jobs";
import type { Log } from "../lib/log";
import type { SchedulingState } from "./scheduling";

/** Creates the logger of due jobs that were not started. Logs each again only when the situation changes. */
export function createWaitingLog(log: Log): (state: SchedulingState, slots: Record<JobName, number>) => void {
  let last = "";
  return ({ running, due, dueAlone, drainingSince }, slots) => {
    const describe = ({ stepId, name, workspaceId, runsAlone }: DueJob) => ({
      job: stepId,
      name,
      workspace: workspaceId,
      runs_alone: runsAlone,
      running: running.filter((mate) => mate.name === name).length,
      slots: slots[name],
      is_draining: drainingSince !== null,
      alone: running.find((mate) => mate.runsAlone)?.stepId,
    });
    const waiting = [...due, ...(dueAlone ? [dueAlone] : [])].map(describe);
    const situation = JSON.stringify(waiting);
    if (situation === last) return;
    last = situation;
    for (const facts of waiting) log.debug("job.waiting", facts);
  };
}
