/** Counters of requests and jobs for the metrics. */
import { JOB_NAMES, type JobName } from "../../domain/jobs";
import { createCounter, createHistogram } from "../../lib/prometheus";
import type { JobEnd } from "../jobs/definition";

const JOB_ENDS: JobEnd[] = ["completed", "failed", "cancelled"];
const DURATION_BOUNDS_SECONDS = [0.01, 0.05, 0.25, 1, 5, 30] as const;

type RequestLabels = { family: string; method: string; status: string };

/** Creates the counters that requests and jobs advance while the server runs. */
export const createServerCounters = () => ({
  requests: createCounter<RequestLabels>(),
  requestSeconds: createHistogram<Pick<RequestLabels, "family">>(DURATION_BOUNDS_SECONDS),
  jobEnds: createCounter<{ job: JobName; outcome: JobEnd }>(
    JOB_NAMES.flatMap((job) => JOB_ENDS.map((outcome) => ({ job, outcome }))),
  ),
});

export type ServerCounters = ReturnType<typeof createServerCounters>;
