/** The types of live events. */

/** Events of changes, which triggers of the database store. */
export const STORED_EVENT_TYPES = [
  "project.updated",
  "asset.updated",
  "cut.updated",
  "draft.updated",
  "review.updated",
  "render.updated",
  "pipeline.updated",
  "credits.updated",
  "notification.created",
] as const;

export const LIVE_EVENT_TYPES = [...STORED_EVENT_TYPES, "progress", "presence", "reset"] as const;
export type LiveEventType = (typeof LIVE_EVENT_TYPES)[number];
