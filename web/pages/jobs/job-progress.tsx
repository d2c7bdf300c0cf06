import { useMemo } from "preact/hooks";
import { formatRemaining } from "../../app/format";
import { progressOf } from "../../app/live";
import { getSubjectId, type Step } from "../../app/pipelines";
import { createRemainingTime } from "../../app/remaining-time";

type JobProgressProps = { step: Step; name: string };

/** Shows the progress of a running step and the remaining time. */
export function JobProgress({ step, name }: JobProgressProps) {
  const remaining = useMemo(createRemainingTime, [step.id]);
  const share = progressOf(getSubjectId(step)).value ?? step.progress ?? 0;
  const seconds = remaining.update(step.id, share, Date.now());
  return (
    <span class="job-progress">
      <progress class="progress" aria-label={`Progress of ${name}`} max={1} value={share} />
      <span class="soft number">
        {Math.floor(share * 100)}%{seconds !== null && `, ${formatRemaining(seconds)}`}
      </span>
    </span>
  );
}
