/** Signs in with a password, and with a code if the account has a second factor. */
import { api, must } from "./api";

/** The response to a correct password when the account has a second factor. */
export type Challenge = { challenge: string; methods: readonly string[] };

/**
 * Starts a session in this browser. Returns null, or a challenge that must be answered with a code first. Throws
 * `ApiError`.
 */
export async function sendPassword(email: string, password: string): Promise<Challenge | null> {
  const answer = await must(api.POST("/api/v1/auth/login", { body: { email, password } }));
  return "two_factor_required" in answer ? answer : null;
}

/** Answers a challenge, which starts a session. Throws `ApiError`. */
export async function sendCode({ challenge }: Challenge, code: string): Promise<void> {
  await must(api.POST("/api/v1/auth/login/two-factor", { body: { challenge, code: code.trim() } }));
}

const HINTS: Record<string, string> = {
  totp: "The six digits that your authenticator app shows.",
  email: "The six digits that were sent to your email address.",
  recovery: "You can also enter a recovery code.",
};

/** Returns the hint of the code field, for the methods that the API lists. */
export const toCodeHint = (methods: readonly string[]): string =>
  methods.flatMap((method) => HINTS[method] ?? []).join(" ");
