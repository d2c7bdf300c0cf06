/**
 * The OAuth family: the device authorization grant, and the calls of the page `/oauth/device`, on which a user approves
 * or denies a device.
 */
import { Type } from "@sinclair/typebox";
import { KEY_SCOPES } from "../../domain/access";
import { strictObject } from "../../domain/schema-parts";
import {
  type DeviceRequest,
  decideDeviceRequest,
  formatScope,
  readDeviceRequest,
} from "../../work/identity/device-grant";
import type { Services } from "../../work/services";
import { type Call, ok } from "../call";
import { toCallActor } from "../dashboard/sign-in-client";
import { respondsWith } from "../response-docs";
import { createRoutes, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";
import * as grant from "./device-grant";

const form = {
  bodyType: "form",
  body: strictObject({
    user_code: Type.String({
      minLength: 1,
      maxLength: 40,
      description: "the code that the device shows; case and hyphens do not matter",
      errorText: "must be 1 to 40 characters",
    }),
  }),
  example: { user_code: "WDJB-MJHT" },
} as const;

const showRequest = ({ userCode, code }: DeviceRequest): Resource<"DeviceRequest"> =>
  showRow(SCHEMAS.DeviceRequest, code, { user_code: userCode, scope: formatScope(code.scopes) });

const read = route({
  summary: "Show the device that is waiting with a code",
  access: { credential: "session", target: "account" },
  ...form,
  errors: ["not_found", "rate_limited"],
  responses: { 200: respondsWith("DeviceRequest", "The device's request") },
  handle: async ({ services, client, principal }, { body: { user_code: userCode } }) =>
    ok(
      showRequest(await readDeviceRequest(services, userCode, { userId: principal.user.id, address: client.address })),
    ),
});

async function decide(call: Call, userCode: string, isApproved: boolean): Promise<Resource<"DeviceRequest">> {
  const { services, principal } = call;
  const { user, workspace } = principal;
  const approver = {
    userId: user.id,
    workspaceId: workspace.id,
    address: call.client.address,
    audit: toCallActor(call),
  };
  return showRequest(await decideDeviceRequest(services, { userCode, isApproved }, approver));
}

const approve = route({
  summary: "Approve a device, which then gets one of your API keys",
  access: { credential: "fresh-session" },
  ...form,
  errors: ["not_found", "conflict", "rate_limited"],
  responses: { 200: respondsWith("DeviceRequest", "The approved request") },
  handle: async (call, { body: { user_code: userCode } }) => ok(await decide(call, userCode, true)),
});

const deny = route({
  summary: "Deny a device",
  access: { credential: "session", target: "account" },
  ...form,
  errors: ["not_found", "rate_limited"],
  responses: { 200: respondsWith("DeviceRequest", "The denied request") },
  handle: async (call, { body: { user_code: userCode } }) => ok(await decide(call, userCode, false)),
});

export const OAUTH_PREFIX = "/oauth";

/** `/device` itself is a page. */
export const oauthRoutes = createRoutes([
  ["POST", "/device/code", grant.authorizeDevice],
  ["POST", "/token", grant.exchangeToken],
  ["POST", "/revoke", grant.revoke],

  ["POST", "/device", read],
  ["POST", "/device/approve", approve],
  ["POST", "/device/deny", deny],
]);

/** The path of the metadata (RFC 8414). */
export const OAUTH_METADATA_PATH = "/.well-known/oauth-authorization-server";

export function createOAuthMetadata({ publicUrl }: Services): Record<string, unknown> {
  const url = publicUrl();
  return {
    issuer: url,
    device_authorization_endpoint: `${url}${OAUTH_PREFIX}/device/code`,
    token_endpoint: `${url}${OAUTH_PREFIX}/token`,
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint: `${url}${OAUTH_PREFIX}/revoke`,
    revocation_endpoint_auth_methods_supported: ["none"],
    grant_types_supported: [grant.DEVICE_GRANT_TYPE],
    response_types_supported: [],
    scopes_supported: [...KEY_SCOPES],
    service_documentation: `${url}/docs`,
  };
}
