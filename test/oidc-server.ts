/** A real OpenID Connect provider for tests, with accounts of the test's choice and without pages. */
import { createServer } from "node:http";
import Provider, { type Configuration } from "oidc-provider";

/** Claims by the login that a test signs in with. */
export type OidcAccounts = Record<string, Record<string, unknown>>;

export type OidcServer = AsyncDisposable & {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /**
   * Follows a sign-in as a browser: opens the URL, signs in as `login`, consents. Returns the URL at which the provider
   * sends it back.
   */
  signIn(authorizationUrl: string, login: string): Promise<URL>;
};

const CLIENT_ID = "offcut";
const CLIENT_SECRET = "a-secret-of-the-client";
const MAX_REDIRECTS = 10;

/** Starts a provider on a free port. `redirectUris` are those of the client. */
export async function startOidcServer(accounts: OidcAccounts, redirectUris: string[]): Promise<OidcServer> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", () => resolve()));
  const issuer = `http://127.0.0.1:${(http.address() as { port: number }).port}`;
  const configuration: Configuration = {
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: redirectUris }],
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["given_name", "family_name"],
      groups: ["groups"],
    },
    scopes: ["openid", "email", "profile", "groups"],
    findAccount: (_, login) => ({ accountId: login, claims: () => ({ sub: login, ...accounts[login] }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    cookies: { keys: ["test"] },
  };
  const provider = new Provider(issuer, configuration);
  const handle = provider.callback();
  http.on("request", async (request, response) => {
    const [, login] = /^\/interaction\/[^?]+\?login=(.+)$/.exec(request.url ?? "") ?? [];
    if (login === undefined) return handle(request, response);
    const { prompt, params, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === "login") {
      await provider.interactionFinished(request, response, { login: { accountId: decodeURIComponent(login) } });
      return;
    }
    const Grant = provider.Grant;
    const grant = grantId
      ? await Grant.find(grantId)
      : new Grant({ accountId: decodeURIComponent(login), clientId: String(params.client_id) });
    grant!.addOIDCScope(String(params.scope));
    await provider.interactionFinished(request, response, { consent: { grantId: await grant!.save() } });
  });

  async function signIn(authorizationUrl: string, login: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let url = new URL(authorizationUrl);
    for (let i = 0; i < MAX_REDIRECTS; i++) {
      if (url.origin !== issuer) return url;
      if (url.pathname.startsWith("/interaction/")) url.searchParams.set("login", login);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ""] = set.split(";");
        const at = pair.indexOf("=");
        cookies.set(pair.slice(0, at), pair.slice(at + 1));
      }
      const location = answer.headers.get("location");
      if (location === null) throw new Error(`sign-in stopped: ${answer.status} ${await answer.text()}`);
      url = new URL(location, url);
    }
    throw new Error("sign-in did not end");
  }

  return {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    signIn,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}
