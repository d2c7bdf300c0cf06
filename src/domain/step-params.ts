/** What the steps of a pipeline were asked to do, as they are stored until their turn comes. */
import type { CutOptions } from "./plan";
import type { OutputRequest } from "./render-output";

/** `script`: "" for none. */
export type CutStepParams = { script: string; options: CutOptions };

/** `cutId` null: the cut of the last cut step before this one, or the whole source if there is none. */
export type RenderStepParams = { cutId: string | null; output: OutputRequest };

/** The processor of a step that a client can ask for, with what it asked for. */
export type StepRequest = { name: "cut"; params: CutStepParams } | { name: "render"; params: RenderStepParams };
