/** The entries of pipelines. No jobs run: cancelled pipelines stay cancelled, and a retried step is pending. */
import { CUT, startChain } from "../chains";
import type { Pipeline } from "../resources";
import type { Entry } from "./entries";
import type { Fixtures } from "./fixtures";

const newChain = ({ owner, ids }: Fixtures): Promise<Pipeline> => startChain(owner, ids.asset_id!, [CUT]);

const newCancelledStep = async (fixtures: Fixtures) => {
  const { id, steps } = await newChain(fixtures);
  await fixtures.owner.must("POST", `/api/v1/pipelines/${id}/cancel`);
  return { pipeline_id: id, step_id: steps[0]!.id };
};

export const PIPELINE_ENTRIES: Record<string, Entry> = {
  "POST /pipelines": {
    allowed: "201",
    elsewhere: "404 not_found",
    body: ({ fixtures }) => ({ input_asset_id: fixtures.ids.asset_id, steps: [CUT] }),
  },
  "GET /pipelines": { allowed: "200" },
  "GET /pipelines/:pipeline_id": { allowed: "200" },
  "POST /pipelines/:pipeline_id/cancel": {
    allowed: "200",
    make: async (fixtures) => ({ pipeline_id: (await newChain(fixtures)).id }),
  },
  "POST /pipelines/:pipeline_id/steps/:step_id/retry": { allowed: "200", make: newCancelledStep },
};
