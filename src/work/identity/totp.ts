/**
 * Authenticator codes (RFC 6238): six digits, 30 s, SHA-1, which every app supports. Each recovery code signs in once
 * in place of one of them.
 */
import { generateSecret, generateURI, verifySync } from "otplib";
import { sha256 } from "../../lib/hash";
import { randomText } from "../../lib/ids";
import type { Sealer } from "../../lib/sealer";
import type { RecoveryCode } from "../../store/two-factor";
import type { User } from "../../store/users";

const CODE = /^\d{6}$/;
/** Accepts codes of the previous and next step: clocks differ, and typing takes time. */
const TOLERANCE_SECONDS = 30;

/** Creates a secret, and the URL that an authenticator app reads from a QR code. */
export function createTotpSecret(email: string): { secret: string; url: string } {
  const secret = generateSecret();
  return { secret, url: generateURI({ issuer: "Offcut", label: email, secret }) };
}

/**
 * Returns the time step of a code, or null if the code is wrong or was used: each step is accepted once. `lastStep` is
 * the step of the last accepted code. `now` is in milliseconds.
 */
export function verifyTotpCode(secret: string, code: string, now: number, lastStep: number | null): number | null {
  if (!CODE.test(code)) return null;
  const epoch = Math.floor(now / 1000);
  const result = verifySync({ secret, token: code, epoch, epochTolerance: TOLERANCE_SECONDS });
  if (!result.valid || !("timeStep" in result)) return null;
  return lastStep !== null && result.timeStep <= lastStep ? null : result.timeStep;
}

type SecretColumn = "totp_secret" | "totp_pending_secret";

export const sealTotpSecret = (sealer: Sealer, userId: string, column: SecretColumn, secret: string): string =>
  sealer.seal(secret, `users/${userId}/${column}`);

/** Returns the secret in a column; null if it is empty or was encrypted with the key of another data folder. */
export function openTotpSecret(
  sealer: Sealer,
  user: Pick<User, "id" | SecretColumn>,
  column: SecretColumn,
): string | null {
  const sealed = user[column];
  return sealed === null ? null : sealer.open(sealed, `users/${user.id}/${column}`);
}

const CODE_COUNT = 10;
/** Excludes letters and digits that look alike. 31^10 is about 50 bits. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const CODE_CHARACTERS = 10;
const GROUP_CHARACTERS = 5;

/** Returns the plain codes, which only this value contains, and the rows to store. */
export function createRecoveryCodes(userId: string, now: number): { codes: string[]; rows: RecoveryCode[] } {
  const codes = Array.from({ length: CODE_COUNT }, createCode);
  const rows = codes.map((code) => ({
    user_id: userId,
    hash: hashRecoveryCode(userId, code)!,
    created_at: now,
  }));
  return { codes, rows };
}

function createCode(): string {
  const code = randomText(ALPHABET, CODE_CHARACTERS);
  return `${code.slice(0, GROUP_CHARACTERS)}-${code.slice(GROUP_CHARACTERS)}`;
}

/** Returns the hash of a typed code, in any case and with or without the hyphen; null if it is malformed. */
export function hashRecoveryCode(userId: string, typed: string): string | null {
  const code = typed.toLowerCase().replace(/[\s-]/g, "");
  const isCode = code.length === CODE_CHARACTERS && [...code].every((character) => ALPHABET.includes(character));
  return isCode ? sha256(`${userId}:${code}`) : null;
}
