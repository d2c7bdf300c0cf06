/** Tokens that work once, for one purpose, until they expire. Only their hash is stored. */
import { sha256 } from "../../lib/hash";
import { randomToken } from "../../lib/ids";
import type { Queries } from "../../store/db";
import { findUsableToken, insertOneTimeToken, type TokenPurpose, takeToken } from "../../store/one-time-tokens";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const VALIDITY_MS: Record<TokenPurpose, number> = {
  email_verification: DAY_MS,
  password_reset: HOUR_MS,
  invitation: 7 * DAY_MS,
  sign_in_challenge: 10 * MINUTE_MS,
  oidc_state: 10 * MINUTE_MS,
};

/** 256 bits. */
const TOKEN_CHARACTERS = 43;

/** A token, which only this value contains. `expiresAt` in milliseconds since 1970. */
export type IssuedToken = { token: string; expiresAt: number };

type TokenRequest = {
  purpose: TokenPurpose;
  /** The account of the token, if it has one. */
  userId: string | null;
  email: string | null;
  workspaceId?: string | null;
  createdBy?: string;
  /** Returns additional data to store; it must not contain the token. */
  createData?: (token: string) => Record<string, unknown>;
  now: number;
};

export async function createOneTimeToken(tx: Queries, request: TokenRequest): Promise<IssuedToken> {
  const { purpose, now } = request;
  const token = randomToken(TOKEN_CHARACTERS);
  const expiresAt = now + VALIDITY_MS[purpose];
  await insertOneTimeToken(tx, {
    purpose,
    hash: sha256(token),
    user_id: request.userId,
    email: request.email,
    workspace_id: request.workspaceId ?? null,
    data: request.createData?.(token) ?? null,
    created_by: request.createdBy ?? null,
    created_at: now,
    expires_at: expiresAt,
  });
  return { token, expiresAt };
}

/** Uses up a token. Returns it, or null if it is unknown, was used, has expired, or is for another purpose. */
export const useOneTimeToken = (tx: Queries, purpose: TokenPurpose, token: string, now: number) =>
  takeToken(tx, { purpose, hash: sha256(token), now });

/** Returns a usable token without using it up, or null. */
export const findOneTimeToken = (db: Queries, purpose: TokenPurpose, token: string, now: number) =>
  findUsableToken(db, { purpose, hash: sha256(token), now });
