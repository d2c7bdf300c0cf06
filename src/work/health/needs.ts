/** Dependencies of the server's state. */
import type { ClusterNeeds } from "../cluster/cluster";
import type { LiveStreams } from "../live/streams";
import type { ServerCounters } from "./counters";

export type HealthNeeds = ClusterNeeds & {
  /** Counters of requests and jobs for the metrics. */
  counters: ServerCounters;
  /** Path of the ffmpeg in use. */
  ffmpegPath: string;
  liveStreams: LiveStreams;
  /** Returns the URL at which clients reach this server, without a trailing slash. */
  publicUrl(): string;
};
