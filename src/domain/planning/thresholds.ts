/** The thresholds of all stages, in one table. */
import { ACTIVITY, ACTIVITY_THRESHOLDS } from "./activity-thresholds";
import { COMMON, COMMON_THRESHOLDS } from "./common-thresholds";
import { CUTTING, CUTTING_THRESHOLDS } from "./cutting-thresholds";
import { FILLERS, FILLERS_THRESHOLDS } from "./fillers/thresholds";
import { RETAKES, RETAKES_THRESHOLDS } from "./retakes/thresholds";
import { SCRIPT, SCRIPT_THRESHOLDS } from "./scripted/thresholds";
import type { Threshold } from "./threshold-table";

/** A stage's thresholds as documented, and as the code reads them. */
type StageThresholds = {
  stage: string;
  thresholds: Readonly<Record<string, Threshold>>;
  values: Readonly<Record<string, number>>;
};

export const STAGE_THRESHOLDS: readonly StageThresholds[] = [
  { stage: "common", thresholds: COMMON_THRESHOLDS, values: COMMON },
  { stage: "activity", thresholds: ACTIVITY_THRESHOLDS, values: ACTIVITY },
  { stage: "cutting", thresholds: CUTTING_THRESHOLDS, values: CUTTING },
  { stage: "fillers", thresholds: FILLERS_THRESHOLDS, values: FILLERS },
  { stage: "retakes", thresholds: RETAKES_THRESHOLDS, values: RETAKES },
  { stage: "script", thresholds: SCRIPT_THRESHOLDS, values: SCRIPT },
];
