/** Shows a pipeline with its steps, their outputs and errors. */
import { useRoute } from "preact-iso";
import { ApiError, api, must } from "../../app/api";
import type { Resource } from "../../app/cache";
import { useRead } from "../../app/cache";
import { formatCount, formatElapsed } from "../../app/format";
import { isOpenState, nameJob, type Pipeline } from "../../app/pipelines";
import { isBilled, workspace } from "../../app/session";
import { type Fact, Facts } from "../../ui/facts";
import { Page } from "../../ui/page";
import { RelativeTime } from "../../ui/relative-time";
import { Section } from "../../ui/section";
import { Empty, ErrorPanel, ListSkeleton } from "../../ui/states";
import { JobStatus } from "../../ui/status";
import { Missing } from "../missing";
import { JobActions } from "./job-actions";
import { RecordingLink, StarterCell } from "./job-cells";
import { JobStep } from "./job-step";

export default function JobPage() {
  const { pipelineId = "" } = useRoute().params;
  const job = useRead<Pipeline>(["pipeline", pipelineId, workspace.value?.id], (signal) => {
    const params = { path: { pipeline_id: pipelineId } };
    return must(api.GET("/api/v1/pipelines/{pipeline_id}", { params, signal }));
  });
  const state = job.state.value;
  if (state.kind === "ready") return <Job pipeline={state.value} job={job} />;
  const isMissing =
    state.kind === "failed" && state.error instanceof ApiError && [404, 422].includes(state.error.status);
  if (isMissing)
    return (
      <Missing id={pipelineId} skeleton={<JobSkeleton />}>
        <JobNotFound />
      </Missing>
    );
  if (state.kind === "loading") return <JobSkeleton />;
  return (
    <Page title="Job">
      <BackLink />
      <ErrorPanel message={state.message} onRetry={() => void job.reload()} />
    </Page>
  );
}

const JobSkeleton = () => (
  <Page title="Job">
    <BackLink />
    <ListSkeleton />
  </Page>
);

const JobNotFound = () => (
  <Page title="Job not found">
    <BackLink />
    <Empty title="The job does not exist" icon="jobs">
      <p>It may have been deleted, or you may not have access to it.</p>
    </Empty>
  </Page>
);

const BackLink = () => (
  <p>
    <a href="/jobs">All jobs</a>
  </p>
);

function Job({ pipeline, job }: { pipeline: Pipeline; job: Resource<Pipeline> }) {
  const onChange = () => void job.reload();
  return (
    <Page
      title={nameJob(pipeline)}
      actions={
        <>
          <JobStatus state={pipeline.state} />
          <JobActions pipeline={pipeline} onChange={onChange} />
        </>
      }
    >
      <BackLink />
      <Section title="About this job">
        <Facts facts={listFacts(pipeline)} />
        {isOpenState(pipeline.state) && pipeline.steps[0]?.processor_name === "prepare" && (
          <p class="soft">A preparation cannot be cancelled. Delete the recording to stop it.</p>
        )}
      </Section>
      <Section title={pipeline.steps.length === 1 ? "Step" : "Steps"}>
        <ol class="job-steps">
          {pipeline.steps.map((step) => (
            <JobStep key={step.id} step={step} pipeline={pipeline} onChange={onChange} />
          ))}
        </ol>
      </Section>
    </Page>
  );
}

function listFacts(pipeline: Pipeline): Fact[] {
  const { created_at: created, started_at: started, finished_at: finished } = pipeline;
  const { total_credits_reserved: reserved, total_credits_consumed: consumed } = pipeline;
  const facts: Fact[] = [
    ["Recording", <RecordingLink pipeline={pipeline} />],
    ["Started by", <StarterCell pipeline={pipeline} />],
    ["Requested", <RelativeTime iso={created} />],
  ];
  if (finished !== null) {
    const took = started === null ? "" : `, after ${formatElapsed(started, finished)}`;
    facts.push([
      "Ended",
      <>
        <RelativeTime iso={finished} />
        {took}
      </>,
    ]);
  }
  if (isBilled.value) facts.push(["Credits", describeCredits(reserved, consumed, isOpenState(pipeline.state))]);
  return facts;
}

/** Describes the cost of a job and, while it runs, its held credits. */
function describeCredits(reserved: number, consumed: number, isOpen: boolean): string {
  if (reserved === 0 && consumed === 0) return "None";
  const spent = `${formatCount(consumed, "credit")} spent`;
  return isOpen && reserved > consumed ? `${spent}, ${formatCount(reserved - consumed, "credit")} held` : spent;
}
