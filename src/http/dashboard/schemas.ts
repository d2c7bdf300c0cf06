/** The schemas of the resources that only the dashboard family has. */
import { Type } from "@sinclair/typebox";
import { SECOND_FACTOR_METHODS, WORKSPACE_ROLES } from "../../domain/access";
import { strictObject } from "../fields";
import { enumeration, id, orNull, text, time } from "../schema-parts";

const profile = strictObject({
  id,
  email: text,
  first_name: orNull(text),
  last_name: orNull(text),
  two_factor_enabled: Type.Boolean({ description: "sign-in asks for a second factor" }),
  deleted_at: orNull(time, "not null: the account is in its grace period of 30 days before it is deleted"),
  created_at: time,
});

const session = strictObject({
  token: Type.String({ description: "for the header Authorization: Bearer" }),
  expires_at: Type.String({
    format: "date-time",
    description: "30 days after the last use, at most 180 days after sign-in",
  }),
  user: profile,
});

const secondFactor = strictObject({
  two_factor_required: Type.Literal(true),
  challenge: Type.String({ description: "for POST auth/login/two-factor" }),
  methods: Type.Array(enumeration(SECOND_FACTOR_METHODS)),
});

const workspaceMember = strictObject({
  user_id: id,
  email: text,
  name: orNull(text),
  role: enumeration(WORKSPACE_ROLES),
  created_at: Type.String({ format: "date-time", description: "when the user became a member" }),
});

/** The schemas by their names in the OpenAPI documents. */
export const DASHBOARD_SCHEMAS = {
  Profile: profile,
  AuthMethods: strictObject({
    is_set_up: Type.Boolean({ description: "there is an administrator" }),
    signup: enumeration(["open", "closed"]),
    email: Type.Boolean({ description: "the server sends mails" }),
    oidc: Type.Array(strictObject({ name: text, start_url: text })),
  }),
  Session: session,
  SignInResult: Type.Union([session, secondFactor]),
  TwoFactorEnrollment: strictObject({
    secret: orNull(text, "for authenticators that cannot read `otpauth_url`; null in a replayed response"),
    otpauth_url: orNull(text, "for a QR code; null in a replayed response"),
    recovery_codes: orNull(
      Type.Array(text),
      "each signs in once in place of a code of the authenticator; null in a replayed response",
    ),
  }),
  SessionItem: strictObject({
    id,
    created_at: time,
    last_seen_at: time,
    user_agent: orNull(text),
    address: orNull(text),
    is_current: Type.Boolean({ description: "the session of this request" }),
  }),
  Workspace: strictObject({
    id,
    name: text,
    role: enumeration(WORKSPACE_ROLES),
    is_personal: Type.Boolean({ description: "made with the account, has its ID and no other member" }),
  }),
  WorkspaceMember: workspaceMember,
  AddedMember: strictObject({
    member: orNull(workspaceMember, "null: the address has no account and is invited"),
    invitation_url: orNull(text, "leads to an account in the workspace; null for a member and in a replayed response"),
    expires_at: orNull(time, "when the invitation ends"),
  }),
};
