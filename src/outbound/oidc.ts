/** Signs in at OpenID Connect providers: authorization code flow with PKCE, state and nonce. */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from "openid-client";
import { AppError } from "../domain/errors";
import { findAdminGroup, type OidcChecks, type OidcIdentity, type OidcProvider } from "../domain/oidc";

const TIMEOUT_SECONDS = 15;
/** Providers rarely rotate their keys or move their endpoints. */
const DISCOVERY_MAX_AGE_MS = 3_600_000;
const RETRY_SECONDS = 30;
const MAX_NAME_CHARACTERS = 120;

/** Creates the client. Providers are discovered on first use. */
export function createOidcClient(now: () => number) {
  const known = new Map<string, { at: number; discovered: Promise<Configuration> }>();

  async function discover(provider: OidcProvider): Promise<Configuration> {
    const id = JSON.stringify([provider.issuer, provider.clientId, provider.clientSecret]);
    const cached = known.get(id);
    if (cached && now() - cached.at < DISCOVERY_MAX_AGE_MS) return cached.discovered;
    const issuer = new URL(provider.issuer);
    const discovered = discovery(
      issuer,
      provider.clientId,
      provider.clientSecret ?? undefined,
      provider.clientSecret === null ? None() : undefined,
      {
        timeout: TIMEOUT_SECONDS,
        // A provider on the LAN may use http. Without TLS, only the signature of its tokens proves their origin.
        execute: [enableNonRepudiationChecks, ...(issuer.protocol === "http:" ? [allowInsecureRequests] : [])],
      },
    );
    known.set(id, { at: now(), discovered });
    try {
      return await discovered;
    } catch (error) {
      known.delete(id);
      throw unavailable(provider, error);
    }
  }

  return {
    /** Returns the URL for the browser, which returns to `redirectUri`. Errors: `AppError` `upstream_unavailable`. */
    start: async (provider: OidcProvider, redirectUri: string, checks: OidcChecks): Promise<string> => {
      const configuration = await discover(provider);
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: provider.scopes.join(" "),
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await calculatePKCECodeChallenge(checks.codeVerifier),
        code_challenge_method: "S256",
      });
      return url.href;
    },
    /**
     * Completes a sign-in. `callbackUrl` is `redirectUri` with the parameters that the browser brought back. Errors:
     * `AppError` `upstream_unavailable` if the provider does not respond, `bad_request` if it rejects the sign-in or
     * its response is invalid.
     */
    finish: async (provider: OidcProvider, callbackUrl: URL, checks: OidcChecks): Promise<OidcIdentity> => {
      const { state, nonce, codeVerifier } = checks;
      const configuration = await discover(provider);
      try {
        const tokens = await authorizationCodeGrant(configuration, callbackUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        // Some providers send the address and the groups only in response to a separate request.
        const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
        const info = hasUserInfo ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
        return toIdentity(provider, claims, info);
      } catch (error) {
        throw isConnectionError(error) ? unavailable(provider, error) : refused(provider, error);
      }
    },
  };
}

export type OidcClient = ReturnType<typeof createOidcClient>;

type Claims = Record<string, unknown>;

/** `info` is the response to the separate request. Its claims apply where the token has none. */
function toIdentity(provider: OidcProvider, token: Claims, info: Claims): OidcIdentity {
  const claims = { ...info, ...token };
  const text = (name: string): string | null => {
    const value = claims[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, MAX_NAME_CHARACTERS) : null;
  };
  const { email } = claims;
  // The confirmation belongs to the address next to it: the two sources may have different addresses.
  const confirmation = [token, info].find((one) => one.email === email && one.email_verified !== undefined);
  return {
    subject: String(claims.sub),
    email: typeof email === "string" ? email : null,
    // Some providers send the text "true".
    emailVerified: confirmation?.email_verified === true || confirmation?.email_verified === "true",
    firstName: text("given_name"),
    lastName: text("family_name"),
    isAdmin: findAdminGroup(provider, claims),
  };
}

/** Connection errors have a system code or are timeouts; the library's own start with `OAUTH_`. */
function isConnectionError(error: unknown): boolean {
  const { name, code, cause } = error as { name?: string; code?: unknown; cause?: unknown };
  if (name === "TimeoutError" || name === "AbortError" || code === "OAUTH_TIMEOUT") return true;
  if (typeof code === "string" && /^(E[A-Z]+|ConnectionRefused|ConnectionClosed|FailedToOpenSocket)$/.test(code))
    return true;
  return cause !== undefined && cause !== null && typeof cause === "object" && isConnectionError(cause);
}

const unavailable = ({ name }: OidcProvider, cause: unknown): AppError =>
  new AppError("upstream_unavailable", `Sign-in provider "${name}" does not respond.`, {
    retryAfterSeconds: RETRY_SECONDS,
    cause,
  });

const refused = ({ name }: OidcProvider, cause: unknown): AppError =>
  new AppError("bad_request", `Sign-in at "${name}" failed. Start again.`, { cause });
