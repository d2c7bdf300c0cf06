/** The parameters of pipeline steps, stored until the steps run. */
import type { CutOptions } from "./plan";
import type { OutputRequest } from "./render-output";

/** `script` is "" for a cut without one. `keepEditsOf` is missing if no edits are kept. */
export type CutStepParams = { script: string; options: CutOptions; keepEditsOf?: string };

/** `cutId` null stands for the cut of the last cut step before this one, or the whole source if there is none. */
export type RenderStepParams = { cutId: string | null; output: OutputRequest };

/** A stored cut step. `scriptOfStep` is the step whose cut has the script, or this step until it starts. */
export type StoredCutParams = CutStepParams | (Omit<CutStepParams, "script"> & { scriptOfStep: number });
export type StoredStepParams = StoredCutParams | RenderStepParams;

/** The processor of a step that a client can request, with its parameters. */
export type StepRequest = { name: "cut"; params: CutStepParams } | { name: "render"; params: RenderStepParams };

/** Returns the stored parameters of a new chain: each script once. The first step's cut already has its script. */
export function shareScripts(steps: StepRequest[]): StoredStepParams[] {
  const orders = new Map<string, number>();
  return steps.map(({ name, params }, n) => {
    if (name !== "cut" || params.script === "") return params;
    const { script: _, ...rest } = params;
    const scriptOfStep = orders.get(params.script) ?? n;
    orders.set(params.script, scriptOfStep);
    return n > 0 && scriptOfStep === n ? params : { ...rest, scriptOfStep };
  });
}

/** Returns the parameters of a step in a started chain, whose cut has the script. */
export function withoutScript(params: StoredStepParams, stepOrder: number): StoredStepParams {
  if (!("script" in params) || params.script === "") return params;
  const { script: _, ...rest } = params;
  return { ...rest, scriptOfStep: stepOrder };
}
