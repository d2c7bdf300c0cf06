/** Sign-in at OpenID Connect providers. Both calls are opened by the browser itself, so they lead to pages. */
import { type Static, Type } from "@sinclair/typebox";
import { AppError, invalidField } from "../../domain/errors";
import type { OidcProvider } from "../../domain/oidc";
import { isLocalPath } from "../../domain/oidc";
import { strictObject } from "../../domain/schema-parts";
import { finishOidcSignIn, OIDC_SIGN_IN_MS, startOidcSignIn } from "../../work/identity/oidc-sign-in";
import type { SignInResult } from "../../work/identity/sign-in";
import type { Services } from "../../work/services";
import type { OpenCall, Reply } from "../call";
import { createFailurePage, isAskedByPerson } from "../failure-page";
import { respondsWithNothing } from "../response-docs";
import { openRoute } from "../route";
import { formatCookie, formatSessionCookies, HOST_PREFIX, readCookie } from "./cookies";
import { toSignInClient } from "./sign-in-client";

const ROUTES = "/api/v1/auth/oidc";
const COOKIE = "service_oidc";

/** Returns the name and the path of the cookie that binds a sign-in to its browser. */
const getCookie = (isSecure: boolean): { name: string; path: string } =>
  isSecure ? { name: `${HOST_PREFIX}${COOKIE}`, path: "/" } : { name: COOKIE, path: ROUTES };

const startQuery = strictObject({
  provider: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "its `name`; may be absent if there is one provider" }),
  ),
  redirect: Type.Optional(
    Type.String({ minLength: 1, description: "a path on this server to open after the sign-in; default `/`" }),
  ),
});

/** Lists the providers for a sign-in page. URLs have the configured host, to which the provider redirects back. */
export const listProviders = ({ config, publicUrl }: Services) =>
  config.oidc.map(({ name }) => ({
    name,
    start_url: `${publicUrl()}${ROUTES}/start?${new URLSearchParams({ provider: name })}`,
  }));

/** Returns a redirect of the browser, which is not stored. */
const redirectTo = (status: 302 | 303, location: string, cookies: string[]): Reply => ({
  status,
  headers: { Location: location, "Cache-Control": "no-store" },
  cookies,
});

const refuseField = (name: "provider" | "redirect", message: string, input: string | null): AppError =>
  invalidField(`query.${name}`, message, input, `Query parameter ${name} ${message}.`);

/** Throws `AppError` `validation_error`. */
function getProvider(providers: OidcProvider[], name: string | undefined): OidcProvider {
  const found =
    name === undefined && providers.length === 1 ? providers[0] : providers.find((one) => one.name === name);
  if (!found) throw refuseField("provider", "must be the name of a configured provider", name ?? null);
  return found;
}

/** A person who opened a link gets a page with the reason; a program gets the error. */
async function showFailures(call: OpenCall, run: () => Promise<Reply>): Promise<Reply> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError) || !isAskedByPerson(call.request)) throw error;
    return createFailurePage(error, {
      title: "Sign-in failed",
      link: { href: "/sign-in", label: "Back to sign-in" },
    });
  }
}

export const start = openRoute({
  summary: "Sign in at an OpenID Connect provider. Opened in the browser, not called",
  query: startQuery,
  errors: ["rate_limited", "upstream_unavailable"],
  responses: { 302: respondsWithNothing("To the provider, with a cookie that binds the sign-in to this browser") },
  handle: (call, { query }) => showFailures(call, () => startAtProvider(call, query)),
});

async function startAtProvider(call: OpenCall, query: Static<typeof startQuery>): Promise<Reply> {
  const { services, client } = call;
  const provider = getProvider(services.config.oidc, query.provider);
  const redirect = query.redirect ?? "/";
  if (!isLocalPath(redirect)) throw refuseField("redirect", "must be a path of this server", redirect.slice(0, 200));
  const browserSecret = readSecret(call);
  const started = await startOidcSignIn(services, { provider, redirect, browserSecret }, toSignInClient(call));
  const cookie = formatCookie({
    ...getCookie(client.isSecure),
    value: started.browserSecret,
    maxAgeSeconds: OIDC_SIGN_IN_MS / 1000,
    isSecure: client.isSecure,
  });
  return redirectTo(302, started.url, [cookie]);
}

/** Ignores foreign cookies. */
function readSecret({ request, client }: OpenCall): string | null {
  const value = readCookie(request.headers.get("cookie"), getCookie(client.isSecure).name);
  return value !== null && /^[0-9A-Za-z]{43}$/.test(value) ? value : null;
}

export const callback = openRoute({
  summary: "Where the provider sends the browser back. Sets the session cookie",
  errors: ["bad_request", "unauthenticated", "forbidden", "upstream_unavailable"],
  responses: {
    303: respondsWithNothing("To the path that `oidc/start` was given; to the sign-in page for a second factor"),
  },
  handle: (call) => showFailures(call, () => finishAtProvider(call)),
});

async function finishAtProvider(call: OpenCall): Promise<Reply> {
  const { services, request, client } = call;
  const { searchParams: parameters } = new URL(request.url);
  const result = await finishOidcSignIn(
    services,
    { parameters, browserSecret: readSecret(call) },
    toSignInClient(call),
  );
  if (result.kind === "second_factor") return redirectTo(303, createSecondFactorUrl(result), []);
  return redirectTo(303, result.redirect, formatSessionCookies(result.token, client.isSecure));
}

/** The challenge is after the `#`, which browsers send to no server. */
function createSecondFactorUrl(
  result: Extract<SignInResult, { kind: "second_factor" }> & { redirect: string },
): string {
  const { challenge, methods, redirect } = result;
  const query = new URLSearchParams({ redirect });
  const fragment = new URLSearchParams({ challenge, methods: methods.join(" ") });
  return `/sign-in?${query}#${fragment}`;
}
