/** Names and actions of pipelines. Pure. */

import type { Schemas } from "./api";
import { toList } from "./english";
import { nameOf } from "./format";

export type Pipeline = Schemas["Pipeline"];
export type Step = Pipeline["steps"][number];

/** A pipeline with one step has the name of the step. */
export const STEP_NAMES: Record<Step["processor_name"], string> = {
  prepare: "Preparation",
  preview: "Preview",
  cut: "Cut",
  render: "Render",
};

/** Returns "Cut and render". */
export const nameSteps = (names: readonly string[]): string =>
  toList(
    names
      .map((name) => STEP_NAMES[name as Step["processor_name"]] ?? name)
      .map((name, index) => (index === 0 ? name : name.toLowerCase())),
  );

export const namePipeline = ({ steps }: Pipeline): string => nameSteps(steps.map((step) => step.processor_name));

/** Returns the name of the recording of a job. */
export const nameInput = ({ input_asset_name: name, input_asset_deleted: isDeleted }: Pipeline): string =>
  name === null && isDeleted ? "Deleted recording" : nameOf({ name });

/** Returns a description of a job for use in a sentence: "Cut of talk.mp4". */
export const nameJob = (pipeline: Pipeline): string =>
  `${namePipeline(pipeline)} of ${pipeline.input_asset_name ?? (pipeline.input_asset_deleted ? "a deleted recording" : "an unnamed recording")}`;

export const isOpenState = (state: Pipeline["state"]): boolean => state === "pending" || state === "running";

/** Returns the running step, or the next one. */
export const findCurrentStep = ({ steps }: Pipeline): Step | undefined =>
  steps.find(({ state }) => state === "running") ?? steps.find(({ state }) => state === "pending");

/** Returns the ID that progress events of a step use. */
export const getSubjectId = (step: Step | undefined): string =>
  step?.render_id ?? step?.cut_id ?? step?.input_asset_id ?? "";

/** The server cancels cuts and renders. A preparation ends when its recording is deleted. */
export const canCancel = (pipeline: Pipeline): boolean =>
  isOpenState(pipeline.state) && findCurrentStep(pipeline)?.processor_name !== "prepare";

/** Errors that another attempt would not fix, because the recording, the script or the output causes them. */
const PERMANENT_ERRORS = ["no_speech", "script_mismatch", "transcription_unavailable", "media_limits_exceeded"];

export const isPermanent = (code: string | null): boolean => PERMANENT_ERRORS.includes(code ?? "");

/** Returns the step that can be retried, or undefined. */
export const findRetryable = ({ steps, input_asset_deleted: isDeleted }: Pipeline): Step | undefined =>
  isDeleted
    ? undefined
    : steps.find(
        ({ state, processor_name: name, error_code: code }) =>
          (state === "failed" || state === "cancelled") && (name === "cut" || name === "render") && !isPermanent(code),
      );
