/** The signed-in user's profile. */
import { Type } from "@sinclair/typebox";
import { AppError } from "../../domain/errors";
import { type ProfileChange, type User, updateProfile } from "../../store/users";
import { DEFAULT_ACCESS, requireCaller } from "../../work/access";
import { recordAudit } from "../../work/audit";
import { toAuditActor } from "../../work/identity/sign-in";
import { canUseSecondFactor } from "../../work/identity/two-factor";
import { type Call, ok } from "../call";
import { notFound } from "../errors";
import { nullable, strictObject, textField } from "../fields";
import { formatTime } from "../format-time";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";
import { toSignInClient } from "./sign-in-client";

const MAX_NAME_CHARACTERS = 120;

/** Returns a user as its own profile. */
export const showProfile = (user: User): Resource<"Profile"> => ({
  id: user.id,
  email: user.email,
  first_name: user.first_name,
  last_name: user.last_name,
  two_factor_enabled: user.two_factor_enabled,
  deleted_at: formatTime(user.deleted_at),
  created_at: formatTime(user.created_at),
});

export const readMe = route({
  summary: "Retrieve your profile",
  access: { inGrace: true, target: "account" },
  responses: { 200: respondsWith("Profile", "The profile") },
  handle: async ({ principal }) => ok(showProfile(principal.user)),
});

const name = nullable(textField(MAX_NAME_CHARACTERS));

export const updateMe = route({
  summary:
    "Change your name, or whether sign-in asks for a second factor. Absent fields stay unchanged, null clears a name",
  access: { inGrace: true, target: "account" },
  errors: ["conflict"],
  example: { first_name: "Ada", last_name: null },
  body: strictObject({
    first_name: Type.Optional(name),
    last_name: Type.Optional(name),
    two_factor_enabled: Type.Optional(nullable(Type.Boolean())),
  }),
  responses: { 200: respondsWith("Profile", "The updated profile") },
  handle: async (call, { body }) => {
    const { services, principal } = call;
    const { two_factor_enabled: wanted, ...names } = body;
    const change: ProfileChange = names;
    if (typeof wanted === "boolean" && wanted !== principal.user.two_factor_enabled) {
      requireTwoFactorChange(call, wanted);
      change.two_factor_enabled = wanted;
    }
    if (Object.keys(change).length === 0) return ok(showProfile(principal.user));
    const changed = await services.store.write(async (tx) => {
      if (change.two_factor_enabled !== undefined) {
        const actor = toAuditActor(principal.user.id, principal.credential.id, toSignInClient(call));
        const target = { kind: "user", id: principal.user.id };
        const details = { enabled: change.two_factor_enabled };
        await recordAudit(tx, actor, { action: "user.two_factor_changed", target, details }, services.now());
      }
      return updateProfile(tx, principal.user.id, change);
    });
    if (!changed) throw notFound("Account");
    return ok(showProfile(changed));
  },
});

/** Throws `AppError` `forbidden` unless the session is fresh; `conflict` if the user has no second factor. */
function requireTwoFactorChange({ principal }: Call, isWanted: boolean): void {
  requireCaller(principal, { ...DEFAULT_ACCESS, credential: "fresh-session", inGrace: true }, false);
  if (isWanted && !canUseSecondFactor(principal.user))
    throw new AppError("conflict", "Account has no second factor: enroll an authenticator first.");
}
