/** Two real OpenID Connect providers, a server that knows them, and a browser that goes from one to the other. */
import { expect } from "bun:test";
import { findUserByEmail, type User } from "../../src/store/users";
import { type OidcServer, startOidcServer } from "../oidc-server";
import { createAdmin } from "./accounts";
import { createClient } from "./client";
import { type Harness, harness } from "./harness";

export const PUBLIC_URL = "http://offcut.test:4700";
export const START = "/api/v1/auth/oidc/start";

export const verified = (name: string, groups?: string[]) => ({
  email: `${name}@studio.example`,
  email_verified: true,
  given_name: name,
  ...(groups && { groups }),
});
/** Claims by login. The tests change some of them, as an administrator of the provider would. */
export const studioAccounts: Record<string, Record<string, unknown>> = {
  ada: verified("ada", ["editors"]),
  ben: verified("ben", ["cutters"]),
  cleo: { email: "cleo@studio.example", email_verified: false },
  "cleo-2": verified("cleo"),
  dora: verified("dora"),
  "dora-2": verified("dora"),
  emil: { email: "emil@studio.example" },
  kim: { email: "kim@studio.example", email_verified: "false", groups: ["editors"] },
  finn: {},
  gina: { email: "not an address", email_verified: true },
  hugo: verified("hugo"),
  ines: verified("ines"),
  jana: verified("jana"),
  kurt: verified("kurt", ["editors"]),
};

export let studio: OidcServer;
export let guests: OidcServer;
export let server: Harness;

export const toToml = (name: string, { issuer, clientId, clientSecret }: OidcServer, more = "") => `[[oidc]]
name = "${name}"
issuer = "${issuer}"
client_id = "${clientId}"
client_secret = "${clientSecret}"
scopes = ["openid", "email", "profile", "groups"]
${more}
`;
const STUDIO_GROUPS = 'groups_claim = "groups"\nadmin_group = "editors"';

/** Starts two providers and a server that knows both. */
export async function startProviders(): Promise<void> {
  const callback = `${PUBLIC_URL}/api/v1/auth/oidc/callback`;
  studio = await startOidcServer(studioAccounts, [callback]);
  guests = await startOidcServer({ ada: verified("guest-ada"), nora: verified("nora") }, [callback]);
  server = await start();
  await createAdmin(server);
}

export async function stopProviders(): Promise<void> {
  await server[Symbol.asyncDispose]();
  await studio[Symbol.asyncDispose]();
  await guests[Symbol.asyncDispose]();
}

export const start = (settings: Record<string, string> = {}): Promise<Harness> =>
  harness(
    { PUBLIC_URL, ...settings },
    { configuration: toToml("Studio", studio, STUDIO_GROUPS) + toToml("Guests", guests, "create_accounts = true") },
  );

type Page = { status: number; location: string; body: string; setCookie: string | null };
type Browser = { open(url: string, headers?: Record<string, string>): Promise<Page>; cookies: Map<string, string> };

/** A browser that keeps the cookies of one server, which answers under its public URL. */
export function createBrowser(of: Harness = server): Browser {
  const cookies = new Map<string, string>();
  return {
    cookies,
    open: async (url, headers = {}) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(url.replace(PUBLIC_URL, of.url()).replace(/^\//, `${of.url()}/`), {
        redirect: "manual",
        headers: { cookie, ...headers },
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
        cookies.set(name!, value!);
      }
      const { status } = response;
      const location = response.headers.get("location") ?? "";
      return { status, location, body: await response.text(), setCookie: response.headers.get("set-cookie") };
    },
  };
}

export const startUrl = (provider = "Studio", redirect = "/projects?x=1") =>
  `${START}?${new URLSearchParams({ provider, redirect })}`;

/** Goes to the provider and back. Returns the callback that the browser opens last. */
export async function goTo(browser: Browser, login: string, provider = "Studio"): Promise<string> {
  const { status, location } = await browser.open(startUrl(provider));
  expect(status).toBe(302);
  return (await (provider === "Studio" ? studio : guests).signIn(location, login)).href;
}

export async function signIn(login: string, provider = "Studio", browser = createBrowser()): Promise<Page> {
  return browser.open(await goTo(browser, login, provider));
}

/** Signs in and returns the user. */
export async function signInUser(login: string, provider = "Studio", of: Harness = server): Promise<User> {
  const browser = createBrowser(of);
  const page = await signIn(login, provider, browser);
  expect([login, page.status, page.location, page.body]).toEqual([login, 303, "/projects?x=1", ""]);
  const client = createClient(of.url, browser.cookies.get("service_session")!, "");
  const { email } = await client.must<{ email: string }>("GET", "/api/v1/users/me");
  return (await findUserByEmail(of.services().store.read, email))!;
}

export const refusal = ({ status, body, setCookie }: Page): string =>
  `${status} ${JSON.parse(body).code ?? JSON.parse(body).detail[0].loc.join(".")}${setCookie === null ? "" : " with a cookie"}`;
