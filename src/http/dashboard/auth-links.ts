/** Calls with the token of a link (address confirmation, password reset, invitation), and calls that request one. */
import { Type } from "@sinclair/typebox";
import { MAX_PASSWORD_UTF16_UNITS } from "../../domain/passwords";
import { optional, secretField, strictObject } from "../../domain/schema-parts";
import {
  verifyEmail as confirmAddress,
  requestVerification as mailVerification,
} from "../../work/identity/email-verification";
import { acceptInvitation as accept } from "../../work/identity/invitations";
import { requestPasswordReset, resetPassword as reset } from "../../work/identity/password-reset";
import { accepted } from "../call";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { openRoute, route } from "../route";
import { email, MAX_TOKEN_CHARACTERS, newPassword, signedUp } from "./auth";
import { findSessionUser, toSignInClient } from "./sign-in-client";

const token = secretField("The part of the link after the `#`", MAX_TOKEN_CHARACTERS);

export const verifyEmail = openRoute({
  summary: "Confirm an email address with the link that was mailed to it, and a session of the account or its password",
  errors: ["unauthenticated"],
  example: { token: "…", password: "correct horse battery" },
  body: strictObject({
    token,
    password: Type.Optional(
      secretField("The password of the account; not needed with its session", MAX_PASSWORD_UTF16_UNITS),
    ),
  }),
  responses: { 204: respondsWithNothing("The address is confirmed") },
  handle: async (call, { body }) =>
    confirmAddress(call.services, body, { client: toSignInClient(call), userId: await findSessionUser(call) }),
});

export const requestVerification = route({
  summary: "Mail the link that confirms your email address again. At most 5 an hour",
  access: { credential: "session", target: "account" },
  errors: ["conflict"],
  responses: { 202: respondsWithNothing("The mail is queued") },
  handle: async ({ services, principal }) => {
    await mailVerification(services, principal.user);
    return accepted();
  },
});

export const forgotPassword = openRoute({
  summary: "Mail a link that resets the password. The response is the same whether or not the address has an account",
  example: { email: "ada@studio.example" },
  body: strictObject({ email }),
  responses: {
    202: respondsWithNothing("If the address has an account and the server sends mails, the mail is queued"),
  },
  handle: async (call, { body }) => {
    requestPasswordReset(call.services, body.email, toSignInClient(call));
    return accepted();
  },
});

export const resetPassword = openRoute({
  summary: "Set a new password with a link. All sessions end, and API keys unless they are kept",
  errors: ["unauthenticated"],
  example: { token: "…", password: "staple correct horse" },
  body: strictObject({
    token,
    password: newPassword,
    keep_api_keys: optional(
      Type.Boolean(),
      "default false, because an intruder may have created keys. The first confirmation of the address always ends them",
    ),
  }),
  responses: { 204: respondsWithNothing("The password was changed: sign in with it") },
  handle: (call, { body }) => reset(call.services, body, toSignInClient(call)),
});

export const acceptInvitation = openRoute({
  summary: "Accept an invitation: choose the password of the account, and sign in",
  errors: ["unauthenticated", "conflict"],
  example: { token: "…", password: "correct horse battery" },
  body: strictObject({ token, password: newPassword }),
  responses: { 201: respondsWith("Session", "The session, also in the cookie `service_session`") },
  handle: async (call, { body }) => signedUp(call, await accept(call.services, body, toSignInClient(call))),
});
