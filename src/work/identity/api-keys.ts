/** API keys: each acts for one user in one workspace. A key is shown once, and only its hash is stored. */

import type { KeyScope } from "../../domain/access";
import { conflict, notFound, requireFound } from "../../domain/errors";
import { sha256 } from "../../lib/hash";
import { randomToken } from "../../lib/ids";
import type { Queries } from "../../store/db";
import { type ApiKey, countApiKeys, deleteApiKeyOf, findUserById, insertApiKey } from "../../store/users";
import { findRole, findWorkspaceName } from "../../store/workspaces";
import { type AuditActor, recordAudit } from "../access/audit";
import type { Mails } from "../mail/mails";
import { canMail } from "../mail/mails";
import type { IdentityNeeds } from "./needs";

const KEY_CHARACTERS = 40;
/** Number of characters of a key that lists show, so that its owner recognizes it. */
const KEY_PREFIX_CHARACTERS = 9;

const MAX_KEYS_PER_USER = 100;

type KeyRequest = {
  userId: string;
  workspaceId: string;
  name: string;
  scopes: readonly KeyScope[];
  /** Milliseconds since 1970; null: never. */
  expiresAt: number | null;
  /** The device grant creates it. */
  isDevice?: boolean;
};

/** A new key. Only this value contains the key itself. */
export type CreatedKey = { row: ApiKey; key: string };

/** Creates a key without checking its owner's rights. */
export async function insertNewKey(tx: Queries, request: KeyRequest, now: number): Promise<CreatedKey> {
  const key = `sk_${randomToken(KEY_CHARACTERS)}`;
  const row = await insertApiKey(tx, {
    user_id: request.userId,
    workspace_id: request.workspaceId,
    name: request.name,
    prefix: key.slice(0, KEY_PREFIX_CHARACTERS),
    hash: sha256(key),
    scopes: [...new Set(request.scopes)],
    is_device: request.isDevice ?? false,
    created_at: now,
    expires_at: request.expiresAt,
  });
  return { row, key };
}

/** Creates a key as `insertNewKey`, records it, and mails it to its owner if `mails` is given. */
export async function mintKey(
  { mails }: { mails?: Mails | undefined },
  tx: Queries,
  request: KeyRequest,
  actor: AuditActor,
  now: number,
): Promise<CreatedKey> {
  const created = await insertNewKey(tx, request, now);
  await recordKey(tx, "api_key.created", created.row, actor, now);
  if (mails) await mailNewKey(mails, tx, created.row, now);
  return created;
}

async function mailNewKey(mails: Mails, tx: Queries, key: ApiKey, now: number): Promise<void> {
  const owner = await findUserById(tx, key.user_id);
  if (!owner || !canMail({ mails }, owner)) return;
  const { name, prefix } = key;
  const values = { name, prefix, workspace: (await findWorkspaceName(tx, key.workspace_id)) ?? "" };
  await mails.queue(tx, { to: owner.email, userId: owner.id, template: "api_key_created", values }, now);
}

/**
 * Creates a key for its owner. Throws `AppError` `not_found` unless the owner is a member of the workspace; `conflict`
 * when the owner has too many keys.
 */
export async function createOwnKey(
  services: IdentityNeeds,
  tx: Queries,
  request: KeyRequest,
  actor: AuditActor,
  now: number,
): Promise<CreatedKey> {
  await requireRoomForKey(tx, request);
  return mintKey(services, tx, request, actor, now);
}

/** Errors: those of `createOwnKey`. */
export async function requireRoomForKey(
  tx: Queries,
  { userId, workspaceId }: Pick<KeyRequest, "userId" | "workspaceId">,
): Promise<void> {
  if ((await findRole(tx, workspaceId, userId)) === null) throw notFound("Workspace");
  if ((await countApiKeys(tx, userId)) >= MAX_KEYS_PER_USER)
    throw conflict(`An account has at most ${MAX_KEYS_PER_USER} API keys. Delete one first.`);
}

/** Deletes a key of the user, which is refused from then on. Throws `AppError` `not_found`. */
export async function revokeOwnKey(
  tx: Queries,
  { userId, keyId }: { userId: string; keyId: string },
  actor: AuditActor,
  now: number,
): Promise<void> {
  const deleted = requireFound(await deleteApiKeyOf(tx, userId, keyId), "API key");
  await recordKey(tx, "api_key.deleted", deleted, actor, now);
}

/** Records a change of a key in the audit log. */
export const recordKey = (
  tx: Queries,
  action: "api_key.created" | "api_key.deleted",
  { id, workspace_id, name, prefix, scopes }: ApiKey,
  actor: AuditActor,
  now: number,
): Promise<void> =>
  recordAudit(tx, actor, { action, target: id, workspaceId: workspace_id, details: { name, prefix, scopes } }, now);
