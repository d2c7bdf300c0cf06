/** The entries of live updates. */
import type { Entry } from "./entries";

export const LIVE_ENTRIES: Record<string, Entry> = {
  "GET /events": { allowed: "200" },
  "GET /pipelines/:pipeline_id/events": { allowed: "200" },
};
