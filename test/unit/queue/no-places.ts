/** The runner's context for a job that runs at one place. */
import type { JobContext } from "../../../src/domain/jobs";

export const onePlace: Pick<JobContext, "places" | "slot"> = {
  slot: { placeId: "local", release: () => {} },
  places: { list: () => [], request: () => ({ wake: () => {}, close: () => {} }) },
};
