/** Recovery codes: each signs in once in place of a code of the authenticator. */
import { sha256 } from "../../lib/hash";
import { newId } from "../../lib/ids";
import type { RecoveryCode } from "../../store/two-factor";

const CODE_COUNT = 10;
/** No letters and digits that look alike. 31^10 is about 50 bits. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const CODE_CHARACTERS = 10;
const GROUP_CHARACTERS = 5;
/** Larger bytes are skipped: they would bias codes toward the first characters. */
const BYTE_LIMIT = 256 - (256 % ALPHABET.length);

/** Returns the plain codes, which only this value contains, and the rows to store. */
export function createRecoveryCodes(userId: string, now: number): { codes: string[]; rows: RecoveryCode[] } {
  const codes = Array.from({ length: CODE_COUNT }, createCode);
  const rows = codes.map((code) => ({
    id: newId(),
    user_id: userId,
    hash: hashRecoveryCode(userId, code)!,
    created_at: now,
  }));
  return { codes, rows };
}

function createCode(): string {
  let code = "";
  while (code.length < CODE_CHARACTERS) {
    for (const byte of crypto.getRandomValues(new Uint8Array(CODE_CHARACTERS))) {
      if (byte < BYTE_LIMIT && code.length < CODE_CHARACTERS) code += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `${code.slice(0, GROUP_CHARACTERS)}-${code.slice(GROUP_CHARACTERS)}`;
}

/** Returns the hash of a typed code, in any case and with or without the hyphen; null if it is malformed. */
export function hashRecoveryCode(userId: string, typed: string): string | null {
  const code = typed.toLowerCase().replace(/[\s-]/g, "");
  const isCode = code.length === CODE_CHARACTERS && [...code].every((character) => ALPHABET.includes(character));
  return isCode ? sha256(`${userId}:${code}`) : null;
}
