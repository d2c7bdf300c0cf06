/** The API keys of the signed-in user. */

import { Type } from "@sinclair/typebox";
import { KEY_SCOPES } from "../../domain/access";
import { invalidField } from "../../domain/errors";
import { MAX_KEY_NAME_CHARACTERS } from "../../domain/field-limits";
import { parseIsoTime } from "../../domain/iso-time";
import { oneOf, optional, orNull, strictObject, textField, uuidField } from "../../domain/schema-parts";
import { type ApiKey, listOwnApiKeys } from "../../store/users";
import { createOwnKey, revokeOwnKey } from "../../work/identity/api-keys";
import { created, createOnce } from "../call";
import { toCallActor } from "../dashboard/sign-in-client";
import { listRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";

const showKey = (key: ApiKey): Resource<"ApiKey"> => showRow(SCHEMAS.ApiKey, key, {});

const scopes = Type.Array(oneOf(...KEY_SCOPES), {
  minItems: 1,
  maxItems: KEY_SCOPES.length,
  uniqueItems: true,
  errorText: "must be a list of read, write or both",
});

const expiresAt = Type.String({ minLength: 1, maxLength: 40, errorText: "must be an ISO 8601 time" });

export const create = route({
  summary: "Create an API key. The response is the only one that shows it",
  access: { credential: "fresh-session", target: "account" },
  example: { name: "Editing station", expires_at: "2027-01-31T18:00:00Z", scopes: ["read"] },
  errors: ["not_found", "conflict"],
  body: strictObject({
    name: textField(MAX_KEY_NAME_CHARACTERS),
    expires_at: optional(orNull(expiresAt), "in the future; null or absent means never"),
    scopes: optional(scopes, "default both"),
    workspace_id: optional(orNull(uuidField("")), "the workspace in which the key acts; default: the personal one"),
  }),
  idempotent: true,
  responses: { 201: respondsWith("ApiKeyWithSecret", "The key; a replayed response has null for it") },
  handle: async (call, { body }) => {
    const { services, principal } = call;
    const now = services.now();
    const request = {
      userId: principal.user.id,
      workspaceId: body.workspace_id ?? principal.user.id,
      name: body.name,
      scopes: body.scopes ?? KEY_SCOPES,
      expiresAt: body.expires_at == null ? null : parseExpiry(body.expires_at, now),
    };
    return createOnce(call, async (tx) => {
      const { row, key } = await createOwnKey(services, tx, request, toCallActor(call), now);
      const shown: Resource<"ApiKeyWithSecret"> = { ...showKey(row), key };
      return created(call.url(`/${row.id}`), shown);
    });
  },
});

/**
 * Returns milliseconds since 1970. Throws `AppError` `validation_error` for a time that is malformed or in the past.
 */
function parseExpiry(text: string, now: number): number {
  const time = parseIsoTime(text);
  if (time !== null && time > now) return time;
  const message = time === null ? "must be an ISO 8601 time" : "must be in the future";
  throw invalidField("body.expires_at", message, text, `Field expires_at ${message}.`);
}

export const list = listRoute({
  summary: "List your API keys, newest first",
  access: { credential: "session", target: "account" },
  item: "ApiKey",
  description: "A page of keys",
  read: ({ services, principal }, { after, limit }) =>
    listOwnApiKeys(services.store.read, principal.user.id, { afterId: after?.[0] ?? null, limit }),
  show: (_, key) => showKey(key),
});

export const remove = route({
  summary: "Revoke an API key. Later requests with it get 401",
  access: { credential: "session", target: "account" },
  responses: { 204: respondsWithNothing("Revoked") },
  handle: async (call) => {
    const { services, principal, params } = call;
    const key = { userId: principal.user.id, keyId: params.key_id! };
    await services.store.write((tx) => revokeOwnKey(tx, key, toCallActor(call), services.now()));
  },
});
