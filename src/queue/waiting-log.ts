/** Logs which due jobs are waiting, and the reason. */
import type { JobName } from "../domain/jobs";
import { LOCAL } from "../domain/places";
import { listPassedOver, type SchedulingState, type SlotRequest } from "../domain/scheduling";
import type { Log } from "../lib/log";

/** Creates the logger of due jobs that were not started. Logs each again only when the situation changes. */
export function createWaitingLog(log: Log): (state: SchedulingState, slots: Record<JobName, number>) => void {
  let last = "";
  return (state, slots) => {
    const { held, due, dueAlone, draining } = state;
    const describe = (request: SlotRequest) => ({
      job: request.stepId,
      name: request.name,
      workspace: request.workspaceId,
      runs_alone: request.runsAlone,
      running: held.filter((slot) => slot.name === request.name).length,
      slots: slots[request.name],
      is_draining: draining !== null,
      alone: held.find((slot) => slot.runsAlone && slot.placeId === LOCAL)?.stepId,
      passed_over: listPassedOver(state, request),
    });
    const waiting = [...due, ...(dueAlone ? [dueAlone] : [])].map(describe);
    const situation = JSON.stringify(waiting);
    if (situation === last) return;
    last = situation;
    for (const facts of waiting) log.debug("job.waiting", facts);
  };
}
