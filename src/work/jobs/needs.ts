/** Dependencies of this server's jobs. */
import type { ServerCounters } from "../health/counters";
import type { LiveEvents } from "../live/events";
import type { PartialTranscripts } from "../live/partial-transcripts";
import type { CoreNeeds } from "../needs";

export type JobNeeds = CoreNeeds & {
  counters: ServerCounters;
  liveEvents: LiveEvents;
  partialTranscripts: PartialTranscripts;
};
