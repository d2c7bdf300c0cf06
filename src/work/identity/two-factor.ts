/** The second factor of a sign-in. */
import type { SECOND_FACTOR_METHODS } from "../../domain/access";
import { AppError } from "../../domain/errors";
import type { User } from "../../store/users";

/** What a client needs to ask for the second factor. */
export type SecondFactorChallenge = { challenge: string; methods: (typeof SECOND_FACTOR_METHODS)[number][] };

/** Returns whether a sign-in with the right password must ask for a second factor. */
export const needsSecondFactor = (user: Pick<User, "two_factor_enabled">): boolean => user.two_factor_enabled;

/** Starts the second step of a sign-in. */
export async function startSecondFactor(_user: User): Promise<SecondFactorChallenge> {
  // No account can have a second factor yet. If one has, nobody gets past it.
  throw new AppError("forbidden", "Second factor is not available.");
}

/** Returns whether the user can be asked for a second factor at all. */
export const canUseSecondFactor = (user: Pick<User, "totp_secret">): boolean => user.totp_secret !== null;
