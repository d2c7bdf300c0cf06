/** The schemas of the resources that only the dashboard family has. */
import { Type } from "@sinclair/typebox";
import { strictObject } from "../fields";
import { id, orNull, text, time } from "../schema-parts";

/** The schemas by their names in the OpenAPI documents. */
export const DASHBOARD_SCHEMAS = {
  Profile: strictObject({
    id,
    email: text,
    first_name: orNull(text),
    last_name: orNull(text),
    two_factor_enabled: Type.Boolean({ description: "sign-in asks for a second factor" }),
    deleted_at: orNull(time, "not null: the account is in its grace period of 30 days before it is deleted"),
    created_at: time,
  }),
};
