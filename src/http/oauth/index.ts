/** The OAuth family: the device authorization grant. */

import { KEY_SCOPES } from "../../domain/access";
import type { Services } from "../../work/services";
import { createRoutes } from "../route";
import * as approval from "./approval";
import * as grant from "./device-grant";

export const OAUTH_PREFIX = "/oauth";

/** `/device` itself is a page. */
export const oauthRoutes = createRoutes([
  ["POST", "/device/code", grant.authorizeDevice],
  ["POST", "/token", grant.exchangeToken],
  ["POST", "/revoke", grant.revoke],

  ["POST", "/device", approval.read],
  ["POST", "/device/approve", approval.approve],
  ["POST", "/device/deny", approval.deny],
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
