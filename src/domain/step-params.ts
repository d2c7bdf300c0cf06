/** What the steps of a pipeline were asked to do, as they are stored until their turn comes. */
import type { CutOptions } from "./plan";
import type { OutputRequest } from "./render-output";

/** `script`: "" for none. */
export type CutStepParams = { script: string; options: CutOptions };

/** `cutId` null: the cut of the last cut step before this one, or the whole source if there is none. */
export type RenderStepParams = { cutId: string | null; output: OutputRequest };

/** A cut step as it is stored. `scriptOfStep`: the cut of this step of the pipeline has the script, or the step itself until it starts. */
export type StoredCutParams = CutStepParams | { scriptOfStep: number; options: CutOptions };
export type StoredStepParams = StoredCutParams | RenderStepParams;

/** The processor of a step that a client can ask for, with what it asked for. */
export type StepRequest = { name: "cut"; params: CutStepParams } | { name: "render"; params: RenderStepParams };

/** Returns the parameters of a new chain as they are stored: each script once. The cut of the first step exists already, with its script. */
export function shareScripts(steps: StepRequest[]): StoredStepParams[] {
  const orders = new Map<string, number>();
  return steps.map(({ name, params }, n) => {
    if (name !== "cut" || params.script === "") return params;
    const scriptOfStep = orders.get(params.script) ?? n;
    orders.set(params.script, scriptOfStep);
    return n > 0 && scriptOfStep === n ? params : { scriptOfStep, options: params.options };
  });
}

/** Returns the parameters of a step of a chain that has started: its cut has the script. */
export const withoutScript = (params: StoredStepParams, stepOrder: number): StoredStepParams =>
  "script" in params && params.script !== "" ? { scriptOfStep: stepOrder, options: params.options } : params;
