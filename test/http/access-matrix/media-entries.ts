/** The entries of the media routes. The shared asset has audio only. */
import type { Entry } from "./entries";

export const MEDIA_ENTRIES: Record<string, Entry> = {
  "GET /assets/:asset_id/media": { allowed: "200" },
  "GET /assets/:asset_id/loudness": { allowed: "200" },
  "GET /assets/:asset_id/poster": { allowed: "404 not_found" },
  "GET /assets/:asset_id/filmstrip": { allowed: "404 not_found" },
  "GET /assets/:asset_id/envelope": { allowed: "200", query: "?points=10" },
  "GET /assets/:asset_id/preview": { allowed: "200" },
  "GET /assets/:asset_id/waveform": { allowed: "200" },
  "GET /assets/:asset_id/storyboard": { allowed: "404 not_found" },
  "GET /assets/:asset_id/storyboard/:sheet": { allowed: "404 not_found" },
  "GET /assets/:asset_id/transcript": { allowed: "200" },
  "GET /assets/:asset_id/transcript/partial": { allowed: "200" },
  "GET /assets/:asset_id/pieces/:track": { allowed: "200", query: "?from=0&to=1" },
};
