/**
 * `Idempotency-Key`: stores the first response to a key with the resource that it created, and replays it without
 * secrets for a day.
 */
import { invalidField } from "../domain/errors";
import type { Queries } from "../store/db";
import { deleteStoredResponse, findStoredResponse, insertStoredResponse } from "../store/idempotency";

/** The key of a request and the hash of its method, path, query and body; null if the client sent no key. */
export type IdempotencyKey = { userId: string; key: string; requestHash: string } | null;

export const RESPONSES_KEPT_MS = 24 * 3600 * 1000;

export type IdempotentResponse = { status: number; body: unknown; headers: Record<string, string> };

/** Fields of resources that are shown once. */
const SECRET_FIELDS = ["secret", "key", "otpauth_url", "recovery_codes", "invitation_url", "token"];

/** Returns the resource with null in place of its secrets. */
function hideSecrets(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const hidden = SECRET_FIELDS.filter((field) => Object.hasOwn(body, field)).map((field) => [field, null]);
  return hidden.length === 0 ? body : { ...body, ...Object.fromEntries(hidden) };
}

/**
 * Returns the stored response to this key, or null. Throws `AppError` `validation_error` if the key was used for
 * another request.
 */
export async function findReplay(db: Queries, key: IdempotencyKey, now: number): Promise<IdempotentResponse | null> {
  const stored = key && (await findStoredResponse(db, key.userId, key.key));
  if (!stored || stored.created_at < now - RESPONSES_KEPT_MS) return null;
  if (stored.request_hash === key.requestHash) {
    return { status: stored.status, body: JSON.parse(stored.body), headers: stored.headers };
  }
  const message = "was already used for another request: send a new key with a new request";
  throw invalidField("header.Idempotency-Key", message, null, `Idempotency-Key ${message}.`);
}

/**
 * Returns the stored response to this key. Without one, runs `create` and stores its response in the same transaction,
 * so that simultaneous requests create one resource. Errors: those of `findReplay` and `create`.
 */
export async function withIdempotencyKey(
  tx: Queries,
  key: IdempotencyKey,
  now: number,
  create: () => Promise<IdempotentResponse>,
): Promise<IdempotentResponse> {
  if (!key) return create();
  const replay = await findReplay(tx, key, now);
  if (replay) return replay;
  // Deletes only the response that is replaced, because the clock may be ahead. The sweep deletes the others.
  await deleteStoredResponse(tx, key.userId, key.key);
  const response = await create();
  await insertStoredResponse(tx, {
    user_id: key.userId,
    key: key.key,
    request_hash: key.requestHash,
    status: response.status,
    body: JSON.stringify(hideSecrets(response.body)),
    headers: response.headers,
    created_at: now,
  });
  return response;
}
