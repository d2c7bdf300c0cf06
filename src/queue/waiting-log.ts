/** Logs which due jobs are waiting, and the reason. */
import type { JobName } from "../domain/jobs";
import { LOCAL } from "../domain/places";
import type { SchedulingState, SlotRequest } from "../domain/scheduling";
import type { Log } from "../lib/log";

/** Creates the logger of due jobs that were not started. Logs each again only when the situation changes. */
export function createWaitingLog(log: Log): (state: SchedulingState, slots: Record<JobName, number>) => void {
  let last = "";
  return ({ held, due, dueAlone, draining }, slots) => {
    const describe = ({ stepId, name, workspaceId, runsAlone }: SlotRequest) => ({
      job: stepId,
      name,
      workspace: workspaceId,
      runs_alone: runsAlone,
      running: held.filter((slot) => slot.name === name).length,
      slots: slots[name],
      is_draining: draining !== null,
      alone: held.find((slot) => slot.runsAlone && slot.placeId === LOCAL)?.stepId,
    });
    const waiting = [...due, ...(dueAlone ? [dueAlone] : [])].map(describe);
    const situation = JSON.stringify(waiting);
    if (situation === last) return;
    last = situation;
    for (const facts of waiting) log.debug("job.waiting", facts);
  };
}
