/** The calls of a device that asks for an API key (RFC 8628), and of its client to revoke the key (RFC 7009). */
import { Type } from "@sinclair/typebox";
import { OAuthError } from "../../domain/device-grant";
import { exchangeDeviceCode, formatScope, revokeToken, startDeviceGrant } from "../../work/identity/device-grant";
import { ok, type Reply } from "../call";
import { toSignInClient } from "../dashboard/sign-in-client";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { openRoute } from "../route";
import type { Resource } from "../schemas";

export const DEVICE_GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";

/** OAuth ignores unknown parameters. */
const formBody = <P extends Parameters<typeof Type.Object>[0]>(properties: P) => Type.Object(properties);

const MAX_CLIENT_ID_CHARACTERS = 64;

/** Printable, because the approval page shows it. */
const clientId = Type.String({
  pattern: `^[ -~]{1,${MAX_CLIENT_ID_CHARACTERS}}$`,
  description: "any name of 1 to 64 ASCII characters, which the approval page shows",
  errorText: `must be 1 to ${MAX_CLIENT_ID_CHARACTERS} printable ASCII characters`,
});

const token = (description: string) =>
  Type.String({ minLength: 1, maxLength: 512, description, errorText: "must be 1 to 512 characters" });

/** Responses with codes and keys must not be cached. */
const noStore = (reply: Reply): Reply => ({
  ...reply,
  headers: { ...reply.headers, "Cache-Control": "no-store", Pragma: "no-cache" },
});

export const authorizeDevice = openRoute({
  summary: "Start the sign-in of a device: it shows `user_code` and polls `/oauth/token` with `device_code`",
  bodyType: "form",
  body: formBody({
    client_id: clientId,
    scope: Type.Optional(
      Type.String({ maxLength: 100, description: "`read`, `write` or both, separated by a space; default both" }),
    ),
  }),
  example: { client_id: "Premiere panel", scope: "read write" },
  errors: ["rate_limited"],
  responses: { 200: respondsWith("DeviceAuthorization", "The codes, valid for 10 minutes") },
  handle: async (call, { body }) => {
    const { services } = call;
    const request = { clientId: body.client_id, scope: body.scope ?? null };
    const started = await startDeviceGrant(services, request, toSignInClient(call));
    const page = `${services.publicUrl()}/oauth/device`;
    const shown: Resource<"DeviceAuthorization"> = {
      device_code: started.deviceCode,
      user_code: started.userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${started.userCode}`,
      expires_in: started.expiresInSeconds,
      interval: started.intervalSeconds,
    };
    return noStore(ok(shown));
  },
});

export const exchangeToken = openRoute({
  summary: "Exchange an approved `device_code` for an API key, once. Until then: `authorization_pending`, `slow_down`",
  bodyType: "form",
  body: formBody({
    grant_type: Type.String({ description: `\`${DEVICE_GRANT_TYPE}\``, errorText: "must be a string" }),
    device_code: Type.Optional(token("from `/oauth/device/code`")),
    client_id: Type.Optional(clientId),
  }),
  example: { grant_type: DEVICE_GRANT_TYPE, device_code: "…", client_id: "Premiere panel" },
  responses: { 200: respondsWith("DeviceToken", "The API key, which is shown once and does not expire") },
  handle: async (call, { body }) => {
    const { services } = call;
    if (body.grant_type !== DEVICE_GRANT_TYPE)
      throw new OAuthError("unsupported_grant_type", `grant_type must be ${DEVICE_GRANT_TYPE}.`);
    const { device_code: deviceCode, client_id: id } = body;
    if (deviceCode === undefined || id === undefined)
      throw new OAuthError("invalid_request", "device_code and client_id are required.");
    const { key, scopes } = await exchangeDeviceCode(services, { deviceCode, clientId: id }, toSignInClient(call));
    const shown: Resource<"DeviceToken"> = { access_token: key, token_type: "Bearer", scope: formatScope(scopes) };
    return noStore(ok(shown));
  },
});

export const revoke = openRoute({
  summary: "Revoke an API key. Succeeds even if the key does not exist",
  bodyType: "form",
  body: formBody({
    token: token("the API key"),
    token_type_hint: Type.Optional(Type.String({ maxLength: 100, description: "ignored" })),
    client_id: Type.Optional(clientId),
  }),
  example: { token: "sk_…", client_id: "Premiere panel" },
  responses: { 200: respondsWithNothing("The key is no longer valid") },
  handle: async (call, { body }) => {
    const { services } = call;
    await revokeToken(services, body.token, toSignInClient(call));
    return noStore({ status: 200 });
  },
});
