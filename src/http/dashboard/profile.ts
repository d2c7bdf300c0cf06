/**
 * The signed-in user's profile, the export of all data, and the deletion of the account, which can be undone for 30
 * days.
 */

import { Type } from "@sinclair/typebox";
import { notFound } from "../../domain/errors";
import { MAX_PERSON_NAME_CHARACTERS } from "../../domain/field-limits";
import { MAX_PASSWORD_UTF16_UNITS } from "../../domain/passwords";
import {
  clearableText,
  emptyToNull,
  oneOf,
  optional,
  orNull,
  secretField,
  strictObject,
  withDescription,
} from "../../domain/schema-parts";
import { findLatestExport } from "../../store/notifications";
import { findUserById, type User, updateProfile } from "../../store/users";
import { DEFAULT_ACCESS, requireCaller } from "../../work/access/access";
import { readWrittenBytes, requestDataExport } from "../../work/data-export/requests";
import { restoreAccount, startAccountDeletion } from "../../work/identity/account-deletion";
import { confirmTwoFactorChange, setTwoFactorEnabled } from "../../work/identity/two-factor";
import { createOnce, ok } from "../call";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";
import { showNotification, showNotifications } from "./notifications";
import { toAccountOwner, toCallActor } from "./sign-in-client";

export const showProfile = (user: User): Resource<"Profile"> =>
  showRow(SCHEMAS.Profile, user, {
    role: user.is_admin ? "admin" : "member",
    has_password: user.password_hash !== null,
  });

export const readMe = route({
  summary: "Retrieve your profile",
  access: { inGrace: true, target: "account" },
  responses: {
    200: {
      ...respondsWith("Profile", "The profile"),
      headers: {
        "Last-Event-ID": {
          description:
            "The ID of the newest event. A stream that continues from it misses no event of a change that is made after this response",
          schema: { type: "string" },
        },
      },
    },
  },
  handle: async ({ services, principal }) => ({
    ...ok(showProfile(principal.user)),
    headers: { "Last-Event-ID": String(await services.liveEvents.readNewestId()) },
  }),
});

/** The password that confirms a change of the second factor. */
export const confirmingPassword = Type.Optional(
  secretField(
    "Your password. An account without one needs a sign-in within the last 10 minutes instead",
    MAX_PASSWORD_UTF16_UNITS,
  ),
);

const name = withDescription(clearableText(MAX_PERSON_NAME_CHARACTERS), "an empty name becomes null");

export const updateMe = route({
  summary:
    "Change your name or, with your password, whether sign-in asks for a second factor. Absent fields stay unchanged, null clears a name",
  access: { credential: "account", inGrace: true, target: "account" },
  errors: ["conflict"],
  example: { first_name: "Ada", last_name: null },
  body: strictObject({
    first_name: Type.Optional(name),
    last_name: Type.Optional(name),
    two_factor_enabled: Type.Optional(orNull(Type.Boolean())),
    password: confirmingPassword,
  }),
  responses: { 200: respondsWith("Profile", "The updated profile") },
  handle: async (call, { body }) => {
    const { services, principal } = call;
    const { two_factor_enabled: isEnabled, password, first_name, last_name } = body;
    const names = {
      ...(first_name !== undefined && { first_name: emptyToNull(first_name) }),
      ...(last_name !== undefined && { last_name: emptyToNull(last_name) }),
    };
    // Decided only here: a simultaneous change by another call must not be undone without the password.
    const isChange = typeof isEnabled === "boolean" && isEnabled !== principal.user.two_factor_enabled;
    if (isChange) {
      requireCaller(principal, { ...DEFAULT_ACCESS, credential: "fresh-session", inGrace: true }, false);
      await confirmTwoFactorChange(services, toAccountOwner(call), password);
    }
    const changed = await services.store.write(async (tx) => {
      const user = isChange
        ? await setTwoFactorEnabled(services, tx, toAccountOwner(call), isEnabled)
        : await findUserById(tx, principal.user.id);
      return user && Object.keys(names).length > 0 ? updateProfile(tx, user.id, names) : user;
    });
    if (!changed) throw notFound("Account");
    return ok(showProfile(changed));
  },
});

export const removeMe = route({
  summary:
    "Delete your account. It can be restored for 30 days, during which everything except the profile, sign-in and sign-out responds with 403",
  access: { credential: "fresh-session", inGrace: true, target: "account" },
  errors: ["conflict"],
  responses: { 204: respondsWithNothing("The grace period has started, or had started before") },
  handle: async (call) => {
    const { store, now } = call.services;
    await store.write((tx) => startAccountDeletion(tx, toCallActor(call), call.principal.user.id, now()));
  },
});

export const restoreMe = route({
  summary: "Restore your account within 30 days of its deletion",
  access: { credential: "session", inGrace: true, target: "account" },
  errors: ["conflict"],
  responses: { 200: respondsWith("Profile", "The profile") },
  handle: async (call) => {
    const { store, now } = call.services;
    const user = await store.write((tx) => restoreAccount(tx, toCallActor(call), call.principal.user.id, now()));
    return ok(showProfile(user));
  },
});

export const readExport = route({
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

export const createExport = route({
  summary:
    "Export your data as a ZIP archive of JSON files. The notification of the export shows when it is `ready`, and then contains a download link",
  access: { credential: "account", inGrace: true, target: "account" },
  idempotent: true,
  errors: ["upstream_unavailable"],
  query: strictObject({
    media: optional(oneOf("true", "false"), "`true` includes your recordings and renders"),
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
