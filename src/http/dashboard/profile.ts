/** The signed-in user's profile. */
import { Type } from "@sinclair/typebox";
import { getUser, type User, updateProfile } from "../../store/users";
import { DEFAULT_ACCESS, requireCaller } from "../../work/access";
import { setTwoFactorEnabled } from "../../work/identity/two-factor";
import { ok } from "../call";
import { notFound } from "../errors";
import { nullable, strictObject, textField } from "../fields";
import { formatTime } from "../format-time";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";
import { toAccountOwner } from "./sign-in-client";

const MAX_NAME_CHARACTERS = 120;

/** Returns a user as its own profile. */
export const showProfile = (user: User): Resource<"Profile"> => ({
  id: user.id,
  email: user.email,
  first_name: user.first_name,
  last_name: user.last_name,
  role: user.is_admin ? "admin" : "member",
  email_verified_at: formatTime(user.email_verified_at),
  has_password: user.password_hash !== null,
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
    const { two_factor_enabled: isEnabled, ...names } = body;
    if (typeof isEnabled === "boolean" && isEnabled !== principal.user.two_factor_enabled)
      requireCaller(principal, { ...DEFAULT_ACCESS, credential: "fresh-session", inGrace: true }, false);
    const changed = await services.store.write(async (tx) => {
      const user =
        typeof isEnabled === "boolean"
          ? await setTwoFactorEnabled(services, tx, toAccountOwner(call), isEnabled)
          : await getUser(tx, principal.user.id);
      return user && Object.keys(names).length > 0 ? updateProfile(tx, user.id, names) : user;
    });
    if (!changed) throw notFound("Account");
    return ok(showProfile(changed));
  },
});
