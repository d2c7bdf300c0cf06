/** The entries of sign-in at providers and of the device grant. */
import type { Entry, RequestContext } from "./entries";

const TOKEN = "0000000000000000000000000000000000000000000";
const CLIENT = { client_id: "matrix" };

/** Starts a device grant, and returns the code that the device shows. */
async function showCode({ fixtures: { server, next } }: RequestContext) {
  const { user_code } = await server.nobody.must<{ user_code: string }>("POST", "/oauth/device/code", {
    body: new URLSearchParams(CLIENT),
    headers: { "X-Forwarded-For": `2001:db9:${next().toString(16)}::1` },
  });
  return { user_code };
}

/** No provider is configured. */
export const OIDC_ENTRIES: Record<string, Entry> = {
  "GET /auth/oidc/start": { allowed: "422 validation_error" },
  "GET /auth/oidc/callback": { allowed: "400 bad_request" },
};

export const OAUTH_ENTRIES: Record<string, Entry> = {
  "POST /device/code": { allowed: "200", form: () => CLIENT },
  "POST /token": {
    allowed: "400 invalid_grant",
    form: () => ({ ...CLIENT, grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: TOKEN }),
  },
  "POST /revoke": { allowed: "200", form: () => ({ token: `sk_${TOKEN}` }) },
  "POST /device": { allowed: "200", form: showCode },
  "POST /device/approve": { allowed: "200", form: showCode },
  "POST /device/deny": { allowed: "200", form: showCode },
};
