/** Shows a pipeline with its steps, their outputs and errors. */

import type { ComponentChildren } from "preact";
import { useRoute } from "preact-iso";
import { api, must } from "../../app/api";
import { type Resource, useRead } from "../../app/cache";
import { downloadRender } from "../../app/ended-render";
import { formatCount, formatElapsed } from "../../app/format";
import {
  findRetryable,
  isOpenState,
  nameJob,
  namePipeline,
  type Pipeline,
  STEP_NAMES,
  type Step,
} from "../../app/pipelines";
import { canWrite, isBilled, workspace } from "../../app/session";
import { Page } from "../../ui/page";
import { type Fact, Facts, Section } from "../../ui/section";
import { Empty, ListSkeleton, Message, ResourceView } from "../../ui/states";
import { JobStatus } from "../../ui/status";
import { RelativeTime } from "../../ui/time";
import { BusyButton } from "../../ui/use-busy";
import { adviseAsset, adviseCut, adviseRender } from "../asset/problem-texts";
import { Missing } from "../missing";
import { JobActions, JobProgress, RecordingLink, RetryButton, StarterCell } from "./job-actions";

export default function JobPage() {
  const { pipelineId = "" } = useRoute().params;
  const job = useRead<Pipeline>(["pipeline", pipelineId, workspace.value?.id], (signal) => {
    const params = { path: { pipeline_id: pipelineId } };
    return must(api.GET("/api/v1/pipelines/{pipeline_id}", { params, signal }));
  });
  return (
    <ResourceView
      resource={job}
      frame={inPage}
      notFound={
        <Missing id={pipelineId} skeleton={inPage(<ListSkeleton />)}>
          <JobNotFound />
        </Missing>
      }
    >
      {(pipeline) => <Job pipeline={pipeline} job={job} />}
    </ResourceView>
  );
}

const inPage = (content: ComponentChildren) => (
  <Page title="Job" crumb={CRUMB}>
    {content}
  </Page>
);

const JobNotFound = () => (
  <Page title="Job not found" crumb={CRUMB}>
    <Empty
      title="It may have been deleted, or you may not have access to it"
      icon="jobs"
      link={{ href: "/jobs", label: "Show all jobs" }}
    />
  </Page>
);

const CRUMB = { label: "Jobs", href: "/jobs" };

function Job({ pipeline, job }: { pipeline: Pipeline; job: Resource<Pipeline> }) {
  const onChange = () => void job.reload();
  const [first, ...others] = pipeline.steps;
  // A job with one step has the name, the state and the times of the step.
  const only = others.length === 0 ? first : undefined;
  return (
    <Page
      title={namePipeline(pipeline)}
      tabTitle={nameJob(pipeline)}
      crumb={CRUMB}
      actions={
        <>
          <JobStatus state={pipeline.state} />
          <JobActions pipeline={pipeline} onChange={onChange} />
        </>
      }
    >
      <Section title="Details">
        {only && <StepState step={only} />}
        <Facts facts={[...listFacts(pipeline), ...(only ? listOutput(only, pipeline) : [])]} />
        {isOpenState(pipeline.state) && first?.processor_name === "prepare" && (
          <p class="soft">A preparation cannot be cancelled. Delete the recording to stop it.</p>
        )}
      </Section>
      {!only && (
        <Section title="Steps">
          <ol class="job-steps">
            {pipeline.steps.map((step) => (
              <JobStep key={step.id} step={step} pipeline={pipeline} onChange={onChange} />
            ))}
          </ol>
        </Section>
      )}
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

type JobStepProps = { step: Step; pipeline: Pipeline; onChange(): void };

/** The progress of a running step, or the reason for its failure with the remedy. */
const StepState = ({ step }: { step: Step }) => (
  <>
    {step.state === "running" && <JobProgress step={step} name={STEP_NAMES[step.processor_name]} />}
    {step.error_code !== null && step.state === "failed" && (
      <Message look="bad">
        <p>
          <strong>{step.error_message ?? "The step has failed."}</strong> {advise(step)}
        </p>
      </Message>
    )}
  </>
);

/** One of several steps, with its progress and output, and advice if it failed. */
function JobStep({ step, pipeline, onChange }: JobStepProps) {
  const facts = listStepFacts(step, pipeline);
  const canRetry = canWrite.value && findRetryable(pipeline)?.id === step.id && !isOpenState(pipeline.state);
  return (
    <li class="job-step">
      <div class="job-step-head">
        <h3>{STEP_NAMES[step.processor_name]}</h3>
        <JobStatus state={step.state} />
        <span class="soft number">{describeTime(step)}</span>
        {canRetry && <RetryButton pipeline={pipeline} step={step} onChange={onChange} />}
      </div>
      <StepState step={step} />
      {facts.length > 0 && <Facts facts={facts} />}
    </li>
  );
}

function listStepFacts(step: Step, pipeline: Pipeline): Fact[] {
  const facts = listOutput(step, pipeline);
  if (step.credits_cost > 0) facts.push(["Price", formatCount(step.credits_cost, "credit")]);
  return facts;
}

/** Only a completed step has an output. */
const listOutput = (step: Step, pipeline: Pipeline): Fact[] =>
  step.state === "completed" ? [["Output", <StepOutput step={step} pipeline={pipeline} />]] : [];

/** Describes how long a step took, or why it is not running. */
function describeTime({ state, started_at: started, finished_at: finished }: Step): string {
  if (started !== null && finished !== null) return `took ${formatElapsed(started, finished)}`;
  return state === "pending" ? "waiting in line" : "";
}

function advise({ processor_name: name, error_code: code, error_message: message }: Step): string {
  if (name === "cut") return adviseCut({ code, message });
  return name === "render" ? adviseRender({ code, message }) : adviseAsset({ code, message });
}

/** The output of a completed step, with a link to it. */
function StepOutput({ step, pipeline }: { step: Step; pipeline: Pipeline }) {
  const { processor_name: name } = step;
  if (step.output_asset_deleted) return <>Deleted</>;
  if (pipeline.input_asset_id === null || pipeline.input_asset_deleted) return <>Deleted with the recording</>;
  const href = `/assets/${pipeline.input_asset_id}`;
  if (name === "cut") return <a href={`${href}?cut=${step.cut_id}`}>Open the cut</a>;
  if (name === "render" && step.render_id !== null) return <RenderOutput id={step.render_id} href={href} />;
  return <a href={href}>Open the recording</a>;
}

const RenderOutput = ({ id, href }: { id: string; href: string }) => (
  <span class="toolbar">
    <a href={href}>View the render</a>
    <BusyButton icon="download" work={() => downloadRender(id)}>
      Download
    </BusyButton>
  </span>
);
