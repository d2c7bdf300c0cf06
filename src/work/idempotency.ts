/** `Idempotency-Key`: the first answer to a key is stored with what it made, without secrets, and given again for a day. */
import { AppError } from "../domain/errors";
import type { Queries } from "../store/db";
import { deleteStoredResponsesBefore, findStoredResponse, insertStoredResponse } from "../store/events";

/** The key of a request, and the hash of its method, path and body. Null: the client sent none. */
export type IdempotencyKey = { userId: string; key: string; requestHash: string } | null;

/** How long an answer is given again. */
export const RESPONSES_KEPT_MS = 24 * 3600 * 1000;

export type IdempotentResponse = { status: number; body: unknown; headers: Record<string, string> };

/** Fields of resources that are shown once. */
const SECRET_FIELDS = ["secret", "key"];

/** The resource as a replay shows it: what is shown once is null. */
function hideSecrets(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const hidden = SECRET_FIELDS.filter((field) => Object.hasOwn(body, field)).map((field) => [field, null]);
  return hidden.length === 0 ? body : { ...body, ...Object.fromEntries(hidden) };
}

/**
 * The remembered answer to this key, or what `make` gives, remembered in the same transaction: simultaneous requests make one thing.
 * Errors: `validation_error` when the key was used for another request.
 */
export async function withIdempotencyKey(
  tx: Queries,
  key: IdempotencyKey,
  now: number,
  make: () => Promise<IdempotentResponse>,
): Promise<IdempotentResponse> {
  if (!key) return make();
  await deleteStoredResponsesBefore(tx, now - RESPONSES_KEPT_MS);
  const earlier = await findStoredResponse(tx, key.userId, key.key);
  if (earlier) {
    if (earlier.request_hash === key.requestHash) {
      return { status: earlier.status, body: JSON.parse(earlier.body), headers: earlier.headers };
    }
    // No `fields`: those name what is below the body, the query or the path.
    throw new AppError("validation_error", "This Idempotency-Key was used for a request with another body.");
  }
  const answer = await make();
  await insertStoredResponse(tx, {
    user_id: key.userId,
    key: key.key,
    request_hash: key.requestHash,
    status: answer.status,
    body: JSON.stringify(hideSecrets(answer.body)),
    headers: answer.headers,
    created_at: now,
  });
  return answer;
}
