/** The signed-in user's profile. */
import { Type } from "@sinclair/typebox";
import { type User, updateProfile } from "../../store/users";
import { ok } from "../call";
import { notFound } from "../errors";
import { nullable, strictObject, textField } from "../fields";
import { formatTime } from "../format-time";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

const MAX_NAME_CHARACTERS = 120;

const showProfile = (user: User): Resource<"Profile"> => ({
  id: user.id,
  email: user.email,
  first_name: user.first_name,
  last_name: user.last_name,
  two_factor_enabled: false,
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
  summary: "Change your name. Absent fields stay unchanged, null clears a name",
  access: { inGrace: true, target: "account" },
  example: { first_name: "Ada", last_name: null },
  body: strictObject({ first_name: Type.Optional(name), last_name: Type.Optional(name) }),
  responses: { 200: respondsWith("Profile", "The updated profile") },
  handle: async ({ services, principal: { user } }, { body }) => {
    if (Object.keys(body).length === 0) return ok(showProfile(user));
    const changed = await services.store.write((tx) => updateProfile(tx, user.id, body));
    if (!changed) throw notFound("Account");
    return ok(showProfile(changed));
  },
});
