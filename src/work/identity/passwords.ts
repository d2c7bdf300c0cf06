/**
 * Password hashes (argon2id). Each takes a core and 64 MiB for a large part of a second, so only a few are computed at
 * once, and addresses with many sign-ins take turns with the others.
 */
import { availableParallelism } from "node:os";
import { invalidField, retryLater } from "../../domain/errors";
import { findPasswordProblem, MAX_PASSWORD_UTF16_UNITS, normalizePassword } from "../../domain/passwords";
import { createFairSemaphore, type FairSemaphoreLimits } from "../../lib/fair-semaphore";

/** The cost of a hash: `memoryCost` in KiB. */
type HashCost = { memoryCost: number; timeCost: number };

const COST: HashCost = { memoryCost: 65_536, timeCost: 2 };

/** Returns a hash of this cost that matches no password. */
const createUnmatchedHash = ({ memoryCost, timeCost }: HashCost): string =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${"A".repeat(43)}$${"A".repeat(43)}`;

const RETRY_AFTER_SECONDS = 5;

const LIMITS: FairSemaphoreLimits = {
  // One core is left for requests.
  maxRunning: Math.max(1, availableParallelism() - 1),
  maxRunningPerKey: Math.max(1, availableParallelism() - 1),
  maxWaiting: 1024,
  maxWaitingPerKey: 256,
  maxWaitMs: 30_000,
};

export function createPasswords({ limits = LIMITS, cost = COST } = {}) {
  const { run } = createFairSemaphore(limits, () =>
    retryLater(
      "upstream_unavailable",
      "Too many sign-ins at once. Retry after the time in Retry-After.",
      RETRY_AFTER_SECONDS,
    ),
  );
  const unmatchedHash = createUnmatchedHash(cost);

  return {
    /** Returns the hash of a password. Throws `AppError` `upstream_unavailable` when too many are waiting. */
    hash: (key: string, password: string) =>
      run(key, () => Bun.password.hash(normalizePassword(password), { algorithm: "argon2id", ...cost })),
    /**
     * Returns whether the password has the hash that `findHash` returns. Takes equally long if it returns null.
     * `findHash` is called when it is the call's turn, so that many calls do not read the database at once, and may
     * throw. Throws `AppError` `upstream_unavailable` when too many are waiting.
     */
    verify: (key: string, password: string, findHash: () => Promise<string | null>) =>
      run(key, async () => {
        const hash = await findHash();
        if (hash !== null && password !== "" && password.length <= MAX_PASSWORD_UTF16_UNITS)
          return Bun.password.verify(normalizePassword(password), hash);
        await Bun.password.verify("-", unmatchedHash);
        return false;
      }),
  };
}

/** `key`: the client's address; keys take turns. */
export type Passwords = ReturnType<typeof createPasswords>;

/**
 * Throws `AppError` `validation_error` on `body.password` unless the account with this address may use the password.
 */
export function requireGoodPassword(password: string, email: string): void {
  const problem = findPasswordProblem(password, email);
  if (problem !== null) throw invalidField("body.password", problem, null, `Password ${problem}.`);
}
