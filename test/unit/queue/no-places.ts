/** What a job gets of the runner when it runs at one place. */
import type { JobContext } from "../../../src/domain/jobs";

export const onePlace: Pick<JobContext, "places" | "slot"> = {
  slot: { placeId: "local", release: () => {} },
  places: { list: () => [], request: () => ({ wake: () => {}, close: () => {} }) },
};
