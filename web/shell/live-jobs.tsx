import { toNumber } from "../app/english";
import { formatCount } from "../app/format";
import { progressOf } from "../app/live";
import { openJobs } from "../app/open-jobs";
import { findCurrentStep, getSubjectId, nameInput, namePipeline, type Pipeline } from "../app/pipelines";
import { Icon } from "../ui/icon";
import { JobStatus } from "../ui/status";
import { usePopover } from "../ui/use-popover";

/** Shows the running and waiting jobs of the workspace, and how many there are. */
export function LiveJobs() {
  const { isOpen, setIsOpen, root, button } = usePopover();
  const jobs = openJobs.value;
  if (jobs.length === 0) return null;
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class="button quiet live-jobs"
        aria-expanded={isOpen}
        title={`${formatCount(jobs.length, "job")} running or waiting`}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="jobs" />
        <span>
          {toNumber(jobs.length)}
          <span class="live-jobs-noun"> {jobs.length === 1 ? "job" : "jobs"}</span>
        </span>
      </button>
      {isOpen && (
        <section class="menu-items popover-list" aria-label="Running and waiting jobs">
          <ul class="plain-list">
            {jobs.slice(0, MAX_SHOWN).map((job) => (
              <JobRow key={job.id} job={job} onOpen={() => setIsOpen(false)} />
            ))}
          </ul>
          {jobs.length > MAX_SHOWN && (
            <p class="soft">and {formatCount(jobs.length - MAX_SHOWN, "more job", "more")}</p>
          )}
          <a class="button" href="/jobs" onClick={() => setIsOpen(false)}>
            All jobs
          </a>
        </section>
      )}
    </div>
  );
}

const MAX_SHOWN = 8;

type JobRowProps = { job: Pipeline; onOpen(): void };

function JobRow({ job, onOpen }: JobRowProps) {
  const step = findCurrentStep(job);
  const share = progressOf(getSubjectId(step)).value ?? step?.progress ?? 0;
  const title = namePipeline(job);
  const name = nameInput(job);
  return (
    <li class="live-job">
      <a href={`/jobs/${job.id}`} onClick={onOpen}>
        {title}
      </a>
      <JobStatus state={step?.state ?? job.state} />
      <span class="soft truncate" title={name} dir="auto">
        {name}
      </span>
      {step?.state === "running" && <progress class="progress" aria-label={`${title} ${name}`} max={1} value={share} />}
    </li>
  );
}
