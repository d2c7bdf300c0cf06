/** The words for pipelines, and what can be done with them. Pure. */
import type { Schemas } from "./api";
import { toList } from "./english";

export type Pipeline = Schemas["Pipeline"];
export type Step = Pipeline["steps"][number];

/** A job that is made of one step is named by it. */
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

/** Returns the name of the recording. */
export const nameInput = ({ input_asset_name: name, input_asset_deleted: isDeleted }: Pipeline): string =>
  name ?? (isDeleted ? "Deleted recording" : "Unnamed recording");

/** Returns what a job is, as in a sentence: "Cut of talk.mp4". */
export const nameJob = (pipeline: Pipeline): string =>
  `${namePipeline(pipeline)} of ${pipeline.input_asset_name ?? (pipeline.input_asset_deleted ? "a deleted recording" : "an unnamed recording")}`;

export const isOpenState = (state: Pipeline["state"]): boolean => state === "pending" || state === "running";

/** Returns the step that runs, or is next. */
export const findCurrentStep = ({ steps }: Pipeline): Step | undefined =>
  steps.find(({ state }) => state === "running") ?? steps.find(({ state }) => state === "pending");

/** Returns the ID that events of a step's progress name. */
export const getSubjectId = (step: Step | undefined): string =>
  step?.render_id ?? step?.cut_id ?? step?.input_asset_id ?? "";

/** The server cancels cuts and renders; a preparation ends with its recording. */
export const canCancel = (pipeline: Pipeline): boolean =>
  isOpenState(pipeline.state) && findCurrentStep(pipeline)?.processor_name !== "prepare";

/** Errors of a recording, a script or an output that another attempt does not change. */
const PERMANENT_ERRORS = ["no_speech", "script_mismatch", "transcription_unavailable", "media_limits_exceeded"];

/** Returns the step that can run again, or undefined. */
export const findRetryable = ({ steps, input_asset_deleted: isDeleted }: Pipeline): Step | undefined =>
  isDeleted
    ? undefined
    : steps.find(
        ({ state, processor_name: name, error_code: code }) =>
          (state === "failed" || state === "cancelled") &&
          (name === "cut" || name === "render") &&
          !PERMANENT_ERRORS.includes(code ?? ""),
      );
