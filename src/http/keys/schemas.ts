/** The schemas of API keys. */
import { Type } from "@sinclair/typebox";
import { KEY_SCOPES } from "../../domain/access";
import { strictObject } from "../fields";
import { enumeration, id, orNull, text, time } from "../schema-parts";

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

export const KEY_SCHEMAS = {
  ApiKey: strictObject(key),
  ApiKeyWithSecret: strictObject({ ...key, key: orNull(text, "the key itself; null if the response is replayed") }),
};
