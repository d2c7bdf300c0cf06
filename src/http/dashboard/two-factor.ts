/** The second factor: its enrollment, and the second step of a sign-in. */

import { secretField, strictObject } from "../../domain/schema-parts";
import { countRecoveryCodes } from "../../store/two-factor";
import { signInWithSecondFactor } from "../../work/identity/sign-in-second-factor";
import {
  confirmAuthenticator,
  confirmTwoFactorChange,
  enrollAuthenticator,
  removeAuthenticator,
  replaceRecoveryCodes,
} from "../../work/identity/two-factor";
import { canMail } from "../../work/mail/mails";
import { created, createOnce, ok } from "../call";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { openRoute, route } from "../route";
import type { Resource } from "../schemas";
import { MAX_TOKEN_CHARACTERS, signedIn } from "./auth";
import { confirmingPassword } from "./profile";
import { toAccountOwner, toSignInClient } from "./sign-in-client";

const MAX_CODE_CHARACTERS = 64;

/** Common fields of routes that require the password. */
const confirmed = {
  access: { credential: "fresh-session", target: "account" },
  example: { password: "correct horse battery" },
  body: strictObject({ password: confirmingPassword }),
} as const;

export const login = openRoute({
  summary: "Complete a sign-in with an authenticator code, a recovery code or a mailed code",
  errors: ["unauthenticated"],
  example: { challenge: "…", code: "123456" },
  body: strictObject({
    challenge: secretField("From `POST auth/login`, valid for 10 minutes and 5 attempts", MAX_TOKEN_CHARACTERS),
    code: secretField("The code, which works once", MAX_CODE_CHARACTERS),
  }),
  responses: { 200: respondsWith("Session", "The session, also in the cookie `service_session`") },
  handle: async (call, { body }) => {
    const started = await signInWithSecondFactor(call.services, body, toSignInClient(call));
    return signedIn(call, started);
  },
});

export const read = route({
  summary: "Retrieve the state of your second factor",
  access: { credential: "session", target: "account" },
  responses: { 200: respondsWith("TwoFactor", "The second factor") },
  handle: async ({ services, principal: { user } }) =>
    ok({
      is_enabled: user.two_factor_enabled,
      has_authenticator: user.totp_secret !== null,
      can_mail: canMail(services, user),
      recovery_codes_left: await countRecoveryCodes(services.store.read, user.id),
    } satisfies Resource<"TwoFactor">),
});

export const enroll = route({
  summary: "Set up an authenticator app, with your password. Sign-in asks for its codes once one has been confirmed",
  ...confirmed,
  errors: ["conflict"],
  isBodyOptional: true,
  idempotent: true,
  responses: {
    201: respondsWith("TwoFactorEnrollment", "The secret and the recovery codes, which are shown once"),
  },
  handle: async (call, { body }) => {
    await confirmTwoFactorChange(call.services, toAccountOwner(call), body.password);
    return createOnce(call, async (tx) => {
      const enrollment = await enrollAuthenticator(call.services, tx, call.principal.user);
      return created(call.url("/users/me"), enrollment satisfies Resource<"TwoFactorEnrollment">);
    });
  },
});

export const confirm = route({
  summary: "Confirm the authenticator with one of its codes",
  access: { credential: "fresh-session", target: "account" },
  errors: ["conflict"],
  example: { code: "123456" },
  body: strictObject({ code: secretField("A code of the authenticator", MAX_CODE_CHARACTERS) }),
  responses: { 204: respondsWithNothing("Sign-in asks for a code from now on") },
  handle: (call, { body }) => confirmAuthenticator(call.services, toAccountOwner(call), body.code),
});

export const replaceCodes = route({
  summary: "Replace your recovery codes. The previous codes stop working",
  ...confirmed,
  errors: ["conflict"],
  responses: { 200: respondsWith("RecoveryCodes", "The codes, which are shown once") },
  handle: async (call, { body }) => {
    const codes = await replaceRecoveryCodes(call.services, toAccountOwner(call), body.password);
    return ok({ recovery_codes: codes } satisfies Resource<"RecoveryCodes">);
  },
});

export const remove = route({
  summary: "Remove the authenticator and its recovery codes. Sign-in then asks only for the password",
  ...confirmed,
  responses: { 204: respondsWithNothing("The authenticator was removed") },
  handle: (call, { body }) => removeAuthenticator(call.services, toAccountOwner(call), body.password),
});
