/** The signed-in user's password. */
import { MAX_PASSWORD_UTF16_UNITS } from "../../domain/passwords";
import { changePassword } from "../../work/identity/change-password";
import { noContent } from "../call";
import { secretField, strictObject } from "../fields";
import { respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { newPassword } from "./auth";
import { toAccountOwner } from "./sign-in-client";

export const update = route({
  summary: "Change your password. All other sessions end",
  access: { credential: "fresh-session", target: "account" },
  errors: ["conflict"],
  example: { current_password: "correct horse battery", password: "staple correct horse" },
  body: strictObject({
    current_password: secretField("The current password", MAX_PASSWORD_UTF16_UNITS),
    password: newPassword,
  }),
  responses: { 204: respondsWithNothing("The password was changed") },
  handle: async (call, { body }) => {
    await changePassword(call.services, toAccountOwner(call), body);
    return noContent();
  },
});
