/** Accounts, for administrators. */

import { Type } from "@sinclair/typebox";
import { ACCOUNT_ROLES } from "../../../domain/access";
import { invalidField, requireFound } from "../../../domain/errors";
import { MAX_CREDITS, MAX_NOTE_CHARACTERS, MAX_SEARCH_CHARACTERS } from "../../../domain/field-limits";
import {
  clearableText,
  emptyToNull,
  integerField,
  oneOf,
  optional,
  orNull,
  parseSort,
  sortField,
  strictObject,
  textField,
  uuidField,
} from "../../../domain/schema-parts";
import {
  findListedUser,
  type ListedUser,
  listUserPage,
  readUserContents,
  USER_SORTS,
  type UserFilter,
  type UserSorting,
} from "../../../store/user-list";
import {
  type AccountChange,
  type ActingAdmin,
  changeAccount,
  changeCredits,
  createResetLink,
  deleteAccount,
  inviteUser,
  restoreDeletedAccount,
} from "../../../work/access/administration";
import type { Services } from "../../../work/services";
import { type Call, created, createOnce, ok, type Reply } from "../../call";
import { offsetListRoute } from "../../list-route";
import { showLedgerEntry } from "../../public/account";
import { respondsWith, respondsWithNothing } from "../../response-docs";
import { createLoader, getResource, route } from "../../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../../schemas";
import { email } from "../auth";
import { toCallActor } from "../sign-in-client";

const showListedUser = ({ user, credits, storageBytes, quotaBytes }: ListedUser): Resource<"AdminUser"> =>
  showRow(SCHEMAS.AdminUser, user, {
    role: user.is_admin ? "admin" : "member",
    disabled: user.disabled_at !== null,
    credits,
    storage_used_bytes: storageBytes,
    storage_quota_bytes: quotaBytes,
  });

const contentsSchema = SCHEMAS.AdminUserDetail.properties.contents;
const sharedWorkspaceSchema = contentsSchema.properties.shared_workspaces.items;

async function showUserDetail(
  { config, now, store }: Services,
  listed: ListedUser,
): Promise<Resource<"AdminUserDetail">> {
  const contents = await readUserContents(store.read, listed.user.id, now());
  return {
    ...showListedUser(listed),
    default_storage_quota_bytes: config.storageQuotaBytes || null,
    contents: showRow(contentsSchema, contents, {
      shared_workspaces: contents.sharedWorkspaces.map((one) => showRow(sharedWorkspaceSchema, one, {})),
    }),
  };
}

const load = createLoader("User", "user_id", findListedUser);

const toActingAdmin = (call: Call): ActingAdmin => ({ actor: toCallActor(call), admin: call.principal.user });

async function respondWithUser(call: Call): Promise<Reply> {
  return ok(showListedUser(await getResource(call, load)));
}

const role = oneOf(...ACCOUNT_ROLES);

export const list = offsetListRoute({
  summary: "List accounts, by default newest first",
  filters: {
    q: optional(textField(MAX_SEARCH_CHARACTERS), "part of the email address or the name"),
    role: Type.Optional(role),
    state: optional(oneOf("active", "disabled", "deleted"), "`deleted`: in the grace period"),
    sort: Type.Optional(sortField(USER_SORTS)),
  },
  item: "AdminUser",
  description: "A page of accounts",
  read: ({ services }, { filters, ...page }) => {
    const { sort, ...filter } = filters as UserFilter & { sort?: string };
    const sorting = parseSort<UserSorting["sort"]>(sort, "created_at", true);
    return listUserPage(services.store.read, filter, { ...sorting, ...page });
  },
  show: (_, user) => showListedUser(user),
});

export const read = route({
  summary: "Retrieve an account with counts of its content",
  load,
  responses: { 200: respondsWith("AdminUserDetail", "The account") },
  handle: async ({ services }, { resource }) => ok(await showUserDetail(services, resource)),
});

export const invite = route({
  summary: "Create an account, whose owner chooses a password through a link that is valid for 7 days",
  idempotent: true,
  errors: ["conflict"],
  example: { email: "ada@studio.example", role: "member" },
  body: strictObject({
    email: email,
    role: Type.Optional(role),
    credits: Type.Optional(integerField(0, MAX_CREDITS, "instead of the sign-up credits")),
  }),
  responses: { 201: respondsWith("InvitedUser", "The account and the link, which is shown once") },
  handle: async (call, { body }) => {
    const account = { email: body.email, isAdmin: body.role === "admin", credits: body.credits ?? null };
    return createOnce(call, async (tx) => {
      const { user, url, expiresAt } = await inviteUser(tx, call.services, toActingAdmin(call), account);
      const listed = requireFound(await findListedUser(tx, user.id), load.name);
      return created(call.url(`/admin/users/${user.id}`), {
        user: showListedUser(listed),
        invitation_url: url,
        expires_at: formatTime(expiresAt),
      } satisfies Resource<"InvitedUser">);
    });
  },
});

export const update = route({
  summary: "Change the role or quota of an account, or disable it. Absent fields stay unchanged",
  load,
  errors: ["conflict"],
  example: { role: "admin" },
  body: strictObject({
    role: Type.Optional(role),
    disabled: Type.Optional(Type.Boolean()),
    storage_quota_bytes: Type.Optional(
      orNull(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          errorText: "must be an integer of at least 0",
          description: "of the personal workspace. null: the configured quota, 0: no limit",
        }),
      ),
    ),
  }),
  responses: { 200: respondsWith("AdminUser", "The changed account") },
  handle: async (call, { body }) => {
    await changeAccount(call.services, toCallActor(call), call.params.user_id!, body satisfies AccountChange);
    return respondWithUser(call);
  },
});

export const remove = route({
  summary: "Delete an account. It can be restored for 30 days",
  load,
  errors: ["conflict"],
  responses: { 204: respondsWithNothing("The grace period has started, or had started before") },
  handle: async (call) => {
    await deleteAccount(call.services, toCallActor(call), call.params.user_id!);
  },
});

export const restore = route({
  summary: "Restore an account within 30 days of its deletion",
  load,
  errors: ["conflict"],
  responses: { 200: respondsWith("AdminUser", "The account") },
  handle: async (call) => {
    await restoreDeletedAccount(call.services, toCallActor(call), call.params.user_id!);
    return respondWithUser(call);
  },
});

export const addCredits = route({
  summary: "Add or remove credits of an account. Assets that are waiting for credits become ready",
  load,
  idempotent: true,
  errors: ["conflict"],
  example: { delta: 600, note: "Order 2026-117" },
  body: strictObject({
    delta: integerField(-MAX_CREDITS, MAX_CREDITS, "a negative number removes credits, at most the available ones"),
    note: optional(clearableText(MAX_NOTE_CHARACTERS), "for the audit log"),
    workspace_id: Type.Optional(uuidField("a workspace of the user; by default the personal one")),
  }),
  responses: { 201: respondsWith("LedgerEntry", "The ledger entry: a `grant`, or an `adjustment` if it is negative") },
  handle: (call, { body }) => {
    const { delta, note = null, workspace_id: workspaceId = null } = body;
    if (delta === 0) throw invalidField("body.delta", "must not be 0", 0);
    const change = { userId: call.params.user_id!, delta, note: emptyToNull(note), workspaceId };
    return createOnce(call, async (tx) => {
      const entry = await changeCredits(tx, toCallActor(call), change, call.services.now());
      return created(call.url(`/admin/users/${change.userId}`), showLedgerEntry(entry));
    });
  },
});

export const createPasswordLink = route({
  summary: "Create a link with which the user chooses a new password. It is valid for an hour",
  load,
  responses: { 200: respondsWith("AccountLink", "The link, which is shown once") },
  handle: async (call) => {
    const { url, expiresAt } = await createResetLink(call.services, toActingAdmin(call), call.params.user_id!);
    return ok({ url, expires_at: formatTime(expiresAt) } satisfies Resource<"AccountLink">);
  },
});
