import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { formatCount, formatElapsed } from "../../app/format";
import { toLocalAddress } from "../../app/local-address";
import { findRetryable, isOpenState, nameInput, type Pipeline, STEP_NAMES, type Step } from "../../app/pipelines";
import { openDownload } from "../../app/save-file";
import { canWrite } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";
import { type Fact, Facts } from "../../ui/facts";
import { Icon } from "../../ui/icon";
import { JobStatus } from "../../ui/status";
import { adviseRender } from "../asset/output/output-problems";
import { adviseAsset, adviseCut } from "../asset/problem-texts";
import { RetryButton } from "./job-actions";
import { JobProgress } from "./job-progress";

type JobStepProps = { step: Step; pipeline: Pipeline; onChange(): void };

/** A step with its progress, input and output, and advice if it failed. */
export function JobStep({ step, pipeline, onChange }: JobStepProps) {
  const name = STEP_NAMES[step.processor_name];
  const canRetry = canWrite.value && findRetryable(pipeline)?.id === step.id && !isOpenState(pipeline.state);
  return (
    <li class="job-step">
      <div class="job-step-head">
        <h3>{name}</h3>
        <JobStatus state={step.state} />
        <span class="soft number">{describeTime(step)}</span>
        {canRetry && pipeline.steps.length > 1 && <RetryButton pipeline={pipeline} step={step} onChange={onChange} />}
      </div>
      {step.state === "running" && <JobProgress step={step} name={name} />}
      {step.error_code !== null && step.state === "failed" && (
        <div class="message bad">
          <Icon name="warning" />
          <p>
            <strong>{step.error_message ?? "The step has failed."}</strong> {advise(step)}
          </p>
        </div>
      )}
      <Facts facts={listFacts(step, pipeline)} />
    </li>
  );
}

function listFacts(step: Step, pipeline: Pipeline): Fact[] {
  const facts: Fact[] = [
    ["Input", step.input_asset_deleted ? "Deleted recording" : nameInput(pipeline)],
    ["Output", <StepOutput step={step} pipeline={pipeline} />],
  ];
  if (step.credits_cost > 0) facts.push(["Price", formatCount(step.credits_cost, "credit")]);
  return facts;
}

/** Describes how long a step took, or why it is not running. */
function describeTime({ state, started_at: started, finished_at: finished }: Step): string {
  if (started !== null && finished !== null) return `took ${formatElapsed(started, finished)}`;
  return state === "pending" ? "waiting in line" : "";
}

function advise({ processor_name: name, error_code: code }: Step): string {
  if (name === "cut") return adviseCut(code);
  return name === "render" ? adviseRender(code) : adviseAsset(code);
}

/** The output of a step, with a link to it. */
function StepOutput({ step, pipeline }: { step: Step; pipeline: Pipeline }) {
  const { state, processor_name: name } = step;
  if (state === "failed" || state === "cancelled") return <>None</>;
  if (state !== "completed") return <>Not yet</>;
  if (step.output_asset_deleted) return <>Deleted</>;
  if (pipeline.input_asset_id === null || pipeline.input_asset_deleted) return <>Deleted with the recording</>;
  const href = `/assets/${pipeline.input_asset_id}`;
  if (name === "cut") return <a href={`${href}?cut=${step.cut_id}`}>The cut, on the page of the recording</a>;
  if (name === "render" && step.render_id !== null) return <RenderOutput id={step.render_id} href={href} />;
  return <a href={href}>The recording, ready to cut</a>;
}

function RenderOutput({ id, href }: { id: string; href: string }) {
  const [isBusy, setIsBusy] = useState(false);
  const download = async () => {
    setIsBusy(true);
    try {
      const params = { path: { render_id: id } };
      const { download_url: link, output } = await must(api.GET("/api/v1/renders/{render_id}", { params }));
      if (link !== null) openDownload(toLocalAddress(link), `render.${output.format}`);
    } catch (error) {
      showFailure(error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <span class="toolbar">
      <a href={href}>View the render</a>
      <Button icon="download" isBusy={isBusy} onClick={() => void download()}>
        Download
      </Button>
    </span>
  );
}
