/** Encrypts short secrets before they are stored (AES-256-GCM), so that a copy of the database does not reveal them. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Identifies the version of the format. */
const PREFIX = "1.";

/** Creates a sealer. `secret` has at least 128 bits of entropy. */
export function createSealer(secret: string) {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "offcut sealed values", KEY_BYTES));
  return {
    /**
     * Encrypts a text. `context` names the place where it is stored. It can be decrypted only with the same context.
     */
    seal: (text: string, context: string): string => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context));
      const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return PREFIX + Buffer.concat([nonce, encrypted, cipher.getAuthTag()]).toString("base64url");
    },
    /** Returns the text; null if it was changed, or was sealed with another key or for another place. */
    open: (sealed: string, context: string): string | null => {
      if (!sealed.startsWith(PREFIX)) return null;
      const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch {
        return null;
      }
    },
  };
}

export type Sealer = ReturnType<typeof createSealer>;
