/**
 * Sign-in at an OpenID Connect provider. A cookie with a random secret binds each sign-in to the browser that started
 * it, so that nobody can be signed in to somebody else's account. Nonce and PKCE verifier are derived from the secret
 * and the state: the server stores only hashes.
 */
import { AppError, badRequest } from "../../domain/errors";
import type { OidcChecks, OidcProvider } from "../../domain/oidc";
import { deriveSecret, isEqualSecret, sha256 } from "../../lib/hash";
import { randomToken } from "../../lib/ids";
import { findUsableToken, insertOneTimeToken, takeToken } from "../../store/one-time-tokens";
import type { User } from "../../store/users";
import { recordAudit } from "../access/audit";
import type { IdentityNeeds } from "./needs";
import { resolveOidcUser } from "./oidc-accounts";
import { type SignInClient, type SignInResult, startSession, toAnonymous } from "./sign-in";
import { needsSecondFactor, startSecondFactor } from "./sign-in-challenge";

/** The path to which providers send the browser back. */
export const OIDC_CALLBACK_PATH = "/api/v1/auth/oidc/callback";

/** Time within which a user must sign in at the provider. */
export const OIDC_SIGN_IN_MS = 10 * 60 * 1000;

const SECRET_CHARACTERS = 43;

const getRedirectUri = (services: IdentityNeeds): string => `${services.publicUrl()}${OIDC_CALLBACK_PATH}`;

const createChecks = (browserSecret: string, state: string): OidcChecks => ({
  state,
  nonce: deriveSecret(browserSecret, `nonce ${state}`),
  codeVerifier: deriveSecret(browserSecret, `verifier ${state}`),
});

/** The stored data of a started sign-in. `browser`: SHA-256 of the browser's secret. `redirect`: a local path. */
type StoredSignIn = { provider: string; redirect: string; browser: string };

/**
 * Starts a sign-in. `browserSecret` is what the browser's cookie contains, null for none. Returns the URL of the
 * provider and the secret for the cookie. Errors: `AppError` `upstream_unavailable`; `rate_limited`.
 */
export async function startOidcSignIn(
  services: IdentityNeeds,
  { provider, redirect, browserSecret }: { provider: OidcProvider; redirect: string; browserSecret: string | null },
  client: SignInClient,
): Promise<{ url: string; browserSecret: string }> {
  services.signInLimits.takeProviderSignIn(client.address);
  // Reused, so that a sign-in in another tab can finish too.
  const secret = browserSecret ?? randomToken(SECRET_CHARACTERS);
  const state = randomToken(SECRET_CHARACTERS);
  const url = await services.oidc.start(provider, getRedirectUri(services), createChecks(secret, state));
  const now = services.now();
  const data: StoredSignIn = { provider: provider.name, redirect, browser: sha256(secret) };
  await services.store.write((tx) =>
    insertOneTimeToken(tx, {
      purpose: "oidc_state",
      hash: sha256(state),
      data,
      created_at: now,
      expires_at: now + OIDC_SIGN_IN_MS,
    }),
  );
  return { url, browserSecret: secret };
}

/**
 * Finishes the sign-in of a browser that returned with these parameters. `redirect` is the path to open then. Throws
 * `AppError` `bad_request` when this browser did not start it, it was finished before or the provider refused;
 * `forbidden` and `unauthenticated` as `resolveOidcUser`; `upstream_unavailable`.
 */
export async function finishOidcSignIn(
  services: IdentityNeeds,
  { parameters, browserSecret }: { parameters: URLSearchParams; browserSecret: string | null },
  client: SignInClient,
): Promise<SignInResult & { redirect: string }> {
  const state = parameters.get("state");
  if (state === null || browserSecret === null) throw notStartedHere(services);
  const { provider: name, redirect } = await takeStoredSignIn(services, state, browserSecret);
  const provider = services.config.oidc.find((one) => one.name === name);
  if (!provider) throw notStartedHere(services);
  const user = await identify(services, provider, { parameters, checks: createChecks(browserSecret, state) }, client);
  if (needsSecondFactor(user)) return { kind: "second_factor", ...(await startSecondFactor(services, user)), redirect };
  return { kind: "session", ...(await startSession(services, user, "oidc", client)), redirect };
}

const notStartedHere = (services: IdentityNeeds): AppError =>
  badRequest(
    `Sign-in was not started in this browser, took too long or was finished before. Start again at ${services.publicUrl()}/sign-in.`,
  );

async function takeStoredSignIn(services: IdentityNeeds, state: string, browserSecret: string): Promise<StoredSignIn> {
  const { store } = services;
  const token = { purpose: "oidc_state", hash: sha256(state), now: services.now() } as const;
  // Checked first: another browser must not use up the sign-in.
  const found = (await findUsableToken(store.read, token))?.data as StoredSignIn | undefined;
  if (!found || !isEqualSecret(sha256(browserSecret), found.browser)) throw notStartedHere(services);
  const taken = await store.write((tx) => takeToken(tx, token));
  if (!taken) throw notStartedHere(services);
  return found;
}

async function identify(
  services: IdentityNeeds,
  provider: OidcProvider,
  { parameters, checks }: { parameters: URLSearchParams; checks: OidcChecks },
  client: SignInClient,
): Promise<User> {
  const { config, log, mails, now, store } = services;
  try {
    const callbackUrl = new URL(`${getRedirectUri(services)}?${parameters}`);
    const identity = await services.oidc.finish(provider, callbackUrl, checks);
    const context = { config, mails, actor: toAnonymous(client), now: now() };
    return await store.write((tx) => resolveOidcUser(tx, provider, identity, context));
  } catch (error) {
    if (error instanceof AppError) {
      log.warn("oidc.sign_in_failed", { provider: provider.name, code: error.code, cause: describeCause(error) });
      const details = { provider: provider.name, code: error.code };
      const entry = { action: "session.refused", target: null, details } as const;
      await store.write((tx) => recordAudit(tx, toAnonymous(client), entry, now()));
    }
    throw error;
  }
}

/** Returns why a provider refused, without any of its data: administrators need it to fix the configuration. */
function describeCause({ details }: AppError): string | null {
  const { cause } = details as { cause?: { message?: unknown; code?: unknown; error?: unknown } };
  if (cause === undefined) return null;
  return [cause.code, cause.error, cause.message].filter((part) => typeof part === "string").join(" ") || null;
}
