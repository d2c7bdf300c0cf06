/** Creates the cluster of a server with Redis. Without Redis, neither BullMQ nor the Redis client is loaded. */

import { readCertificate } from "../../config";
import type { JobName } from "../../domain/jobs";
import type { EncodingFacts } from "../../domain/worker-messages";
import { hasZscaleFilter } from "../../media/chunks/scale";
import type { MediaTools } from "../jobs/media-tools";
import { type Cluster, type ClusterOptions, createCluster } from "./cluster";

/** `slots` are those of this machine. `secret` is known to the server only. */
type LocalRuns = { secret: string; slots: Record<JobName, number> };

/** Returns null without Redis. Connects in the background. Throws `ConfigError`. */
export async function openCluster(
  services: ClusterOptions["services"],
  tools: MediaTools,
  { secret, slots }: LocalRuns,
): Promise<Cluster | null> {
  const { config, log } = services;
  if (config.redisUrl === null) return null;
  const ca = await readCertificate(config.ca);
  const { openTicketQueues } = await import("../../queue/bullmq");
  let localEncoding: EncodingFacts | null = null;
  void readEncoding(tools).then(
    (facts) => {
      localEncoding = facts;
    },
    (error) => log.warn("encoder.unavailable", { error }),
  );
  return createCluster({
    services,
    tools,
    tickets: openTicketQueues({ url: config.redisUrl, ca }, log),
    localSlots: slots,
    findLocalEncoding: () => localEncoding,
    secret,
  });
}

/** Returns what this machine encodes with. The first call tries the encoders. */
async function readEncoding({ ffmpeg, encoder }: Pick<MediaTools, "encoder" | "ffmpeg">): Promise<EncodingFacts> {
  return {
    ffmpeg: ffmpeg.version,
    libavutil: ffmpeg.libavutil,
    encoder: await encoder(),
    hasZscale: await hasZscaleFilter(ffmpeg),
  };
}
