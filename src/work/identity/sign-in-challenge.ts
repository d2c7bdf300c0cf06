/** The second step of a sign-in: a challenge that accepts a few attempts within ten minutes. */
import type { SecondFactorMethod } from "../../domain/access";
import { conflict, retryLater } from "../../domain/errors";
import { sha256 } from "../../lib/hash";
import { randomText } from "../../lib/ids";
import { countRecentTokens } from "../../store/one-time-tokens";
import { countRecoveryCodes } from "../../store/two-factor";
import type { User } from "../../store/users";
import { canMail } from "../mail/mails";
import type { IdentityNeeds } from "./needs";
import { createOneTimeToken } from "./one-time-tokens";

/** A challenge and the methods that the client can offer. */
export type SecondFactorChallenge = { challenge: string; methods: SecondFactorMethod[] };

export type ChallengeData = {
  /** Identifies the password that was given: the challenge ends when it changes. */
  password: string;
  /** The hash of the code that was mailed, if one was. */
  code: string | null;
};

/** Returns whether a sign-in with the right password must ask for a second factor. */
export const needsSecondFactor = (user: Pick<User, "two_factor_enabled">): boolean => user.two_factor_enabled;

/** Identifies the user's password in a challenge. */
export const toPasswordMark = ({ password_hash: hash }: Pick<User, "password_hash">): string => sha256(hash ?? "");

/**
 * Returns the hash of a mailed code. The challenge, which is not stored, keeps it from being guessed from the database.
 */
export const hashMailedCode = (challenge: string, code: string): string => sha256(`${challenge}:${code}`);

const CODE_DIGITS = 6;

/** As long as a challenge lasts. */
const WINDOW_MS = 10 * 60_000;
const MAX_MAILED_CODES = 5;

/**
 * Starts the second step of a sign-in, and mails the code if the user has no authenticator. Throws `AppError`
 * `conflict` if the server cannot mail it; `rate_limited` when too many were mailed.
 */
export async function startSecondFactor(services: IdentityNeeds, user: User): Promise<SecondFactorChallenge> {
  const { mails, now, store } = services;
  const isMailed = user.totp_secret === null;
  if (isMailed && !canMail(services, user))
    throw conflict("Sign-in asks for a code by email, but this server cannot send it to you. Ask an administrator.");
  const code = isMailed ? randomText("0123456789", CODE_DIGITS) : null;
  return store.write(async (tx) => {
    const time = now();
    if (isMailed) {
      const { count, firstAt } = await countRecentTokens(tx, user.id, "sign_in_challenge", time - WINDOW_MS);
      if (count >= MAX_MAILED_CODES)
        throw retryLater(
          "rate_limited",
          "Too many codes were sent. Retry after the time in Retry-After.",
          Math.ceil(((firstAt ?? time) + WINDOW_MS - time) / 1000),
        );
    }
    const { token, expiresAt } = await createOneTimeToken(tx, {
      purpose: "sign_in_challenge",
      userId: user.id,
      email: user.email,
      createData: (challenge): ChallengeData => ({
        password: toPasswordMark(user),
        code: code && hashMailedCode(challenge, code),
      }),
      now: time,
    });
    if (code === null) {
      const hasCodes = (await countRecoveryCodes(tx, user.id)) > 0;
      return { challenge: token, methods: hasCodes ? ["totp", "recovery"] : ["totp"] };
    }
    const values = { code, expires_at: expiresAt };
    await mails.queue(tx, { to: user.email, userId: user.id, template: "sign_in_code", values }, time);
    return { challenge: token, methods: ["email"] };
  });
}
