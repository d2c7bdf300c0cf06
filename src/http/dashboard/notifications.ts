/** A user's notifications and preferences. A key sees those of its workspace, and changes nothing. */
import { Type } from "@sinclair/typebox";
import { invalidField, notFound } from "../../domain/errors";
import {
  NOTIFICATION_CATEGORIES,
  type NotificationChoice,
  type NotificationPayloads,
  resolvePreferences,
} from "../../domain/notifications";
import { listField, oneOf, optional, strictObject } from "../../domain/schema-parts";
import { NOTIFICATION_CHANNELS, NOTIFICATION_TYPES } from "../../domain/states";
import {
  countNotifications,
  findNotification,
  listChoices,
  listNotifications,
  markAllRead,
  type NotificationReader,
  type StoredNotification,
  updateNotification,
} from "../../store/notifications";
import { findOnlyWorkspace, type Principal, type RouteAccess } from "../../work/access/access";
import { createExportLinks } from "../../work/data-export/requests";
import { canMail } from "../../work/mail/mails";
import { changePreferences } from "../../work/notifications/notifications";
import type { Services } from "../../work/services";
import { type Call, ok } from "../call";
import { offsetParameters } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../schemas";
import type { ShownPayloads } from "./notification-schemas";

const ACCESS = { inGrace: true, target: "account" } satisfies Partial<RouteAccess>;
const CHANGE_ACCESS = { ...ACCESS, credential: "session" } satisfies Partial<RouteAccess>;

const toReader = (principal: Principal): NotificationReader => ({
  userId: principal.user.id,
  workspaceId: findOnlyWorkspace(principal),
  hasExports: principal.credential.isForAccount,
});

export const list = route({
  summary: "List your notifications, newest first; with an API key, those of its workspace",
  access: ACCESS,
  query: strictObject({
    ...offsetParameters,
    unread: optional(oneOf("true", "false"), "`true`: only those that you have not read"),
  }),
  responses: { 200: respondsWith("NotificationList", "A page of notifications") },
  handle: async (call, { query }) => {
    const { services, principal } = call;
    const { read } = services.store;
    const { limit, offset, unread } = query;
    const page = { isUnread: unread === "true", limit, offset };
    const reader = toReader(principal);
    const { rows, total } = await listNotifications(read, reader, page);
    const unreadCount = await countNotifications(read, reader, { isUnread: true });
    return ok({ items: await showNotifications(call, rows), unread_count: unreadCount, total, limit, offset });
  },
});

export const markRead = route({
  summary: "Mark a notification as read",
  access: CHANGE_ACCESS,
  responses: { 200: respondsWith("Notification", "The notification; `read_at` is when it was marked first") },
  handle: async (call) => {
    const { services, principal, params } = call;
    const row = await services.store.write(async (tx) => {
      const found = await findNotification(tx, principal.user.id, params.notification_id!);
      if (found === null || found.is_hidden) return null;
      return found.read_at === null ? updateNotification(tx, found.id, { read_at: services.now() }) : found;
    });
    if (row === null) throw notFound("Notification");
    const [shown] = await showNotifications(call, [row]);
    return ok(shown);
  },
});

export const markAll = route({
  summary: "Mark all your notifications as read",
  access: CHANGE_ACCESS,
  responses: { 204: respondsWithNothing("No notification is unread") },
  handle: async ({ services, principal }) => {
    await services.store.write((tx) => markAllRead(tx, principal.user.id, services.now()));
  },
});

const preferenceSchema = SCHEMAS.NotificationPreferences.properties.items.items;

async function showPreferences({ services, principal }: Call): Promise<Resource<"NotificationPreferences">> {
  const isMailAvailable = canMail(services, principal.user);
  const choices = await listChoices(services.store.read, principal.user.id);
  return {
    items: resolvePreferences(choices).map((choice) =>
      showRow(preferenceSchema, choice, {
        category: NOTIFICATION_CATEGORIES[choice.type],
        is_available: choice.channel === "in_app" || isMailAvailable,
      }),
    ),
  };
}

export const readPreferences = route({
  summary: "List which notifications you receive, and how",
  access: ACCESS,
  responses: { 200: respondsWith("NotificationPreferences", "Every type and channel") },
  handle: async (call) => ok(await showPreferences(call)),
});

const MAX_CHOICES = 50;

const choice = strictObject({
  type: oneOf(...NOTIFICATION_TYPES),
  channel: oneOf(...NOTIFICATION_CHANNELS),
  enabled: Type.Boolean(),
});

/** Throws `validation_error` for an item that repeats the type and channel of an earlier one. */
function requireDistinct(items: readonly NotificationChoice[]): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const key = `${item.type}/${item.channel}`;
    const message = "must not repeat the type and channel of another item";
    if (seen.has(key))
      throw invalidField(`body.items.${index}`, message, item, "A type and channel is in the list twice.");
    seen.add(key);
  }
}

export const updatePreferences = route({
  summary: "Choose which notifications you receive. Applies all items or none; 409 if a mandatory one is turned off",
  access: CHANGE_ACCESS,
  errors: ["conflict"],
  example: { items: [{ type: "pipeline_completed", channel: "email", enabled: true }] },
  body: strictObject({
    items: listField(choice, 1, MAX_CHOICES, "items"),
  }),
  responses: { 200: respondsWith("NotificationPreferences", "Every type and channel") },
  handle: async (call, { body }) => {
    requireDistinct(body.items);
    await call.services.store.write((tx) => changePreferences(tx, call.principal.user.id, body.items));
    return ok(await showPreferences(call));
  },
});

type ShownPayload = ShownPayloads[keyof ShownPayloads];

type Viewer = { services: Services; principal: Principal };

/**
 * Returns notifications of the principal as the API shows them. The one of an export that can be downloaded gets a new
 * link.
 */
export async function showNotifications(
  { services, principal }: Viewer,
  rows: StoredNotification[],
): Promise<Resource<"Notification">[]> {
  // Other credentials cannot see notifications of exports.
  const links = rows.some(({ type }) => type === "data_export_ready")
    ? await createExportLinks(services, principal.user.id)
    : new Map<string, string>();
  return rows.map((row) => showNotification(row, links.get(row.id)));
}

/** Returns a notification as the API shows it, with the download link of an export. */
export const showNotification = (row: StoredNotification, link: string | null = null): Resource<"Notification"> =>
  ({
    id: row.id,
    type: row.type,
    category: NOTIFICATION_CATEGORIES[row.type],
    payload: showPayload(row, link),
    workspace_id: row.workspace_id,
    read_at: formatTime(row.read_at),
    created_at: formatTime(row.created_at),
  }) as Resource<"Notification">;

function showPayload({ type, payload }: StoredNotification, link: string | null): ShownPayload {
  if (type !== "data_export_ready") return payload as ShownPayload;
  const { status, ...details } = payload as NotificationPayloads["data_export_ready"];
  // The link expires before the archive is removed, which marks the export as expired.
  return { ...details, status: status === "ready" && link === null ? "expired" : status, download_url: link };
}
