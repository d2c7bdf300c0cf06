/** The schemas of API keys and of the device authorization grant, which creates them. */
import { Type } from "@sinclair/typebox";
import { KEY_SCOPES } from "../../domain/access";
import { enumeration, id, integer, orNull, strictObject, text, time } from "../../domain/schema-parts";

const key = {
  id,
  name: text,
  prefix: Type.String({ description: "the first characters of the key" }),
  scopes: Type.Array(enumeration(KEY_SCOPES)),
  workspace_id: id,
  created_at: time,
  last_used_at: orNull(time, "accurate to a minute"),
  expires_at: orNull(time, "null if never"),
};

const userCode = Type.String({ description: "eight letters, shown as XXXX-XXXX" });

export const KEY_SCHEMAS = {
  ApiKey: strictObject(key),
  ApiKeyWithSecret: strictObject({ ...key, key: orNull(text, "the key itself; null if the response is replayed") }),
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
