/** Set-up, sign-up, sign-in, sign-out and the signed-in user's password. */
import { Type } from "@sinclair/typebox";
import { BILLING_MODES } from "../../domain/billing";
import { MAX_PASSWORD_UTF16_UNITS } from "../../domain/passwords";
import { oneOf, optional, secretField, strictObject } from "../../domain/schema-parts";
import { deleteSession } from "../../store/sessions";
import { hasAdministrator } from "../../store/users";
import { recordAudit } from "../../work/access/audit";
import { changePassword } from "../../work/identity/password-reset";
import { type StartedSession, signIn } from "../../work/identity/sign-in";
import { isSignUpOpen, setUp, signUp } from "../../work/identity/sign-up";
import { created, noContent, type OpenCall, ok, type Reply } from "../call";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { openRoute, route } from "../route";
import type { Resource } from "../schemas";
import { formatTime } from "../schemas";
import { formatExpiredCookies, formatSessionCookies } from "./cookies";
import { listProviders } from "./oidc";
import { showProfile } from "./profile";
import { toAccountOwner, toCallActor, toSignInClient } from "./sign-in-client";

const MAX_EMAIL_CHARACTERS = 320;
/** Tokens of links and challenges are shorter. */
export const MAX_TOKEN_CHARACTERS = 256;

export const email = Type.String({
  minLength: 1,
  maxLength: MAX_EMAIL_CHARACTERS,
  errorText: `must be a string of 1 to ${MAX_EMAIL_CHARACTERS} characters`,
});
export const newPassword = secretField("10 to 200 characters; common passwords are rejected", MAX_PASSWORD_UTF16_UNITS);
const EXAMPLE = { email: "ada@studio.example", password: "correct horse battery" };

export const signedIn = (call: OpenCall, started: StartedSession): Reply => ({
  ...ok(showStartedSession(started)),
  cookies: formatSessionCookies(started.token, call.client.isSecure),
});

const showStartedSession = ({ token, session, user }: StartedSession): Resource<"Session"> => ({
  token,
  expires_at: formatTime(session.expires_at),
  user: showProfile(user),
});

export const signedUp = (call: OpenCall, started: StartedSession): Reply => ({
  ...signedIn(call, started),
  ...created(call.url("/users/me"), showStartedSession(started)),
});

export const methods = openRoute({
  summary: "List the ways to sign in",
  responses: { 200: respondsWith("AuthMethods", "The options of a sign-in page") },
  handle: async ({ services }) => {
    const isSetUp = await hasAdministrator(services.store.read);
    const isOpen = await isSignUpOpen(services);
    return ok({
      is_set_up: isSetUp,
      signup: isOpen ? "open" : "closed",
      email: services.mails.isConfigured,
      oidc: listProviders(services),
    } satisfies Resource<"AuthMethods">);
  },
});

export const setup = openRoute({
  summary: "Create the first administrator",
  errors: ["unauthenticated", "conflict"],
  example: { token: "…", ...EXAMPLE },
  body: strictObject({
    token: secretField("From the link that `offcut setup-url` prints", MAX_TOKEN_CHARACTERS),
    email,
    password: newPassword,
    billing: optional(
      oneOf(...BILLING_MODES),
      "whether work costs credits, unless the configuration says it; default on",
    ),
  }),
  responses: { 201: respondsWith("Session", "The session, also in the cookie `service_session`") },
  handle: async (call, { body }) => signedUp(call, await setUp(call.services, body, toSignInClient(call))),
});

export const signup = openRoute({
  summary: "Create an account, where sign-up is open",
  errors: ["forbidden", "conflict"],
  example: EXAMPLE,
  body: strictObject({ email, password: newPassword }),
  responses: { 201: respondsWith("Session", "The session, also in the cookie `service_session`") },
  handle: async (call, { body }) => signedUp(call, await signUp(call.services, body, toSignInClient(call))),
});

export const login = openRoute({
  summary: "Sign in",
  errors: ["unauthenticated", "conflict"],
  example: EXAMPLE,
  body: strictObject({ email, password: secretField("The password", MAX_PASSWORD_UTF16_UNITS) }),
  responses: {
    200: respondsWith(
      "SignInResult",
      "The session, also in the cookie `service_session`, or a second factor to ask for",
    ),
  },
  handle: async (call, { body }) => {
    const result = await signIn(call.services, body, toSignInClient(call));
    if (result.kind === "session") return signedIn(call, result);
    const { challenge, methods: factors } = result;
    return ok({ two_factor_required: true, challenge, methods: factors } satisfies Resource<"SignInResult">);
  },
});

export const logout = route({
  summary: "End the session",
  access: { credential: "session", inGrace: true, target: "account" },
  responses: { 204: respondsWithNothing("The session has ended, in the header and in the cookie") },
  handle: async (call) => {
    const { services, principal } = call;
    const { user, credential } = principal;
    await services.store.write(async (tx) => {
      await deleteSession(tx, user.id, credential.id);
      await recordAudit(tx, toCallActor(call), { action: "session.ended", target: credential.id }, services.now());
    });
    // Cached pages and files may belong to the account. Without TLS, browsers reject the header with an error.
    const headers = call.client.isSecure ? { "Clear-Site-Data": '"cache"' } : {};
    return { ...noContent(), headers, cookies: formatExpiredCookies(call.client.isSecure) };
  },
});

export const updatePassword = route({
  summary: "Change your password. All other sessions end",
  access: { credential: "fresh-session", target: "account" },
  errors: ["conflict"],
  example: { current_password: "correct horse battery", password: "staple correct horse" },
  body: strictObject({
    current_password: secretField("The current password", MAX_PASSWORD_UTF16_UNITS),
    password: newPassword,
  }),
  responses: { 204: respondsWithNothing("The password was changed") },
  handle: (call, { body }) => changePassword(call.services, toAccountOwner(call), body),
});
