/** The export of all data of the signed-in user. */
import { Type } from "@sinclair/typebox";
import { findLatestExport } from "../../store/notifications";
import { readWrittenBytes, requestDataExport } from "../../work/data-export/requests";
import { createOnce, ok } from "../call";
import { oneOf, strictObject } from "../fields";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";
import { showNotification, showNotifications } from "./notifications";

export const read = route({
  summary: "Retrieve the notification of your latest data export, with a new download link while it is `ready`",
  access: { credential: "account", inGrace: true, target: "account" },
  responses: { 200: respondsWith("LatestDataExport", "The notification, or null") },
  handle: async (call) => {
    const row = await findLatestExport(call.services.store.read, call.principal.user.id);
    const [notification = null] = await showNotifications(call, row === null ? [] : [row]);
    const written_bytes = await readWrittenBytes(call.services, call.principal.user.id);
    return ok({ notification, written_bytes } satisfies Resource<"LatestDataExport">);
  },
});

export const create = route({
  summary:
    "Export your data as a ZIP archive of JSON files. The notification of the export shows when it is `ready`, and then contains a download link",
  access: { credential: "account", inGrace: true, target: "account" },
  idempotent: true,
  errors: ["upstream_unavailable"],
  query: strictObject({
    media: Type.Optional({ ...oneOf("true", "false"), description: "`true` includes your recordings and renders" }),
  }),
  responses: {
    202: respondsWith("Notification", "The notification of the new export, or of the one that is `pending`"),
  },
  handle: async (call, { query }) => {
    const { services, principal } = call;
    return createOnce(call, async (tx) => {
      const hasMedia = query.media === "true";
      const row = await requestDataExport(services, tx, { userId: principal.user.id, hasMedia });
      return { status: 202, body: showNotification(row) };
    });
  },
});
