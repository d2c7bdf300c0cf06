import type { Schemas } from "../../../app/api";

export type AdminJob = Schemas["AdminJob"];

/** Returns the name of a job's recording. */
export const nameJobInput = ({ input_asset_name: name }: AdminJob): string => name ?? "Unnamed or deleted recording";
