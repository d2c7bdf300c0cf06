/** The schemas of the device authorization grant. */
import { Type } from "@sinclair/typebox";
import { strictObject } from "../fields";
import { integer, orNull, text, time } from "../schema-parts";

const userCode = Type.String({ description: "eight letters, shown as XXXX-XXXX" });

export const OAUTH_SCHEMAS = {
  DeviceAuthorization: strictObject({
    device_code: text,
    user_code: userCode,
    verification_uri: text,
    verification_uri_complete: text,
    expires_in: Type.Integer({ description: "seconds" }),
    interval: { ...integer, description: "minimum number of seconds between two polls" },
  }),
  DeviceToken: strictObject({
    access_token: Type.String({ description: "an API key, sk_…" }),
    token_type: Type.Literal("Bearer"),
    scope: text,
  }),
  DeviceRequest: strictObject({
    user_code: userCode,
    client_id: text,
    scope: text,
    address: orNull(text, "the address from which the device called"),
    created_at: time,
    expires_at: time,
  }),
};
