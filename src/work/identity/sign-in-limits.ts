/** Limits against guessing: failed sign-ins by account and by address, and unauthenticated calls by address. */
import ipaddr from "ipaddr.js";
import { retryLater } from "../../domain/errors";
import { createWindowLimit, type WindowLimit } from "../../lib/window-limit";

/**
 * `account`: the email address of the attempts, even without an account. `address`: the client's, null if unknown.
 * `knownNetwork`: its network if the account was signed in to from there before. Failures are counted separately for
 * each, so that strangers cannot lock an owner out of the usual place.
 */
export type SignInAttempt = { account: string; address: string | null; knownNetwork?: string | null };

/** Counted by user, so that another session does not allow more attempts. */
export type UserCodeAttempt = { userId: string; address: string | null };

const MINUTE_MS = 60_000;
const MAX_ACCOUNT_FAILURES = 10;
const MAX_ADDRESS_FAILURES = 50;
const FAILURE_WINDOW_MS = 15 * MINUTE_MS;
const MAX_ANONYMOUS_CALLS = 20;
const ANONYMOUS_WINDOW_MS = 60 * MINUTE_MS;
/** Everyone in a studio may have the same address. */
const MAX_PROVIDER_SIGN_INS = 200;
const MAX_USER_WRONG_CODES = 10;
const MAX_ADDRESS_WRONG_CODES = 30;

/** Creates the limits. They are kept in memory: a restart clears them. */
export function createSignInLimits(now: () => number) {
  const byAccount = createWindowLimit(MAX_ACCOUNT_FAILURES, FAILURE_WINDOW_MS);
  const byAddress = createWindowLimit(MAX_ADDRESS_FAILURES, FAILURE_WINDOW_MS);
  const anonymous = createWindowLimit(MAX_ANONYMOUS_CALLS, ANONYMOUS_WINDOW_MS);
  const providers = createWindowLimit(MAX_PROVIDER_SIGN_INS, FAILURE_WINDOW_MS);
  const codesByUser = createWindowLimit(MAX_USER_WRONG_CODES, FAILURE_WINDOW_MS);
  const codesByAddress = createWindowLimit(MAX_ADDRESS_WRONG_CODES, FAILURE_WINDOW_MS);

  return {
    /** Throws `AppError` `rate_limited` if there were too many failures. */
    check: (attempt: SignInAttempt) => {
      const { address } = attempt;
      requireRoom(byAccount, toAccountKey(attempt), now(), "Too many failed sign-ins.");
      requireRoom(byAddress, toNetwork(address), now(), "Too many failed sign-ins.");
    },
    recordFailure: (attempt: SignInAttempt) => {
      byAccount.add(toAccountKey(attempt), now());
      byAddress.add(toNetwork(attempt.address), now());
    },
    /**
     * Clears the failures of the account, or of its known network. Those of the address stay: it may have tried other
     * accounts.
     */
    recordSuccess: (attempt: SignInAttempt) => byAccount.clear(toAccountKey(attempt)),
    /** Counts a call without authentication. Throws `AppError` `rate_limited` if there were too many. */
    takeAnonymousCall: (address: string | null) => {
      const network = toNetwork(address);
      requireRoom(anonymous, network, now(), "Too many requests from this address.");
      anonymous.add(network, now());
    },
    /** Counts the start of a sign-in at a provider. Throws `AppError` `rate_limited` if there were too many. */
    takeProviderSignIn: (address: string | null) => {
      const network = toNetwork(address);
      requireRoom(providers, network, now(), "Too many sign-ins from this address.");
      providers.add(network, now());
    },
    /** Throws `AppError` `rate_limited` if a user or an address entered too many wrong device codes. */
    checkUserCode: ({ userId, address }: UserCodeAttempt) => {
      requireRoom(codesByUser, userId, now(), "Too many wrong codes.");
      requireRoom(codesByAddress, toNetwork(address), now(), "Too many wrong codes.");
    },
    recordWrongUserCode: ({ userId, address }: UserCodeAttempt) => {
      codesByUser.add(userId, now());
      codesByAddress.add(toNetwork(address), now());
    },
  };
}

export type SignInLimits = ReturnType<typeof createSignInLimits>;

function requireRoom(limit: WindowLimit, key: string, now: number, message: string): void {
  const waitMs = limit.waitMs(key, now);
  if (waitMs === 0) return;
  throw retryLater("rate_limited", `${message} Retry after the time in Retry-After.`, Math.ceil(waitMs / 1000));
}

const MAX_ACCOUNT_CHARACTERS = 320;

/** As JSON, so that no typed account can collide with a network's key. */
const toAccountKey = ({ account, knownNetwork = null }: SignInAttempt): string =>
  JSON.stringify([account.trim().toLowerCase().slice(0, MAX_ACCOUNT_CHARACTERS), knownNetwork]);

const IPV6_NETWORK_PARTS = 4;

/** Returns the network that one client is assumed to own: an IPv4 address, or the /64 of IPv6. */
export function toNetwork(address: string | null): string {
  if (address === null || !ipaddr.isValid(address)) return "unknown";
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, IPV6_NETWORK_PARTS);
  return network.map((part) => part.toString(16)).join(":");
}

const HOME_BITS = 24;

/** Returns the network that a user with a dynamic address stays in: IPv4 /24, IPv6 /64; null if unknown. */
export function toHomeNetwork(address: string | null): string | null {
  if (address === null || !ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6) return `${toNetwork(address)}::/64`;
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${HOME_BITS}`)}/${HOME_BITS}`;
}
