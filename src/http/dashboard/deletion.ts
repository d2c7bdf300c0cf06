/** The deletion of the signed-in user's account, which can be undone for 30 days. */
import { restoreAccount, startAccountDeletion } from "../../work/identity/account-deletion";
import { noContent, ok } from "../call";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { route } from "../route";
import { showProfile } from "./profile";
import { toCallActor } from "./sign-in-client";

export const remove = route({
  summary:
    "Delete your account. It can be restored for 30 days, during which everything except the profile, sign-in and sign-out responds with 403",
  access: { credential: "fresh-session", inGrace: true, target: "account" },
  errors: ["conflict"],
  responses: { 204: respondsWithNothing("The grace period has started, or had started before") },
  handle: async (call) => {
    const { store, now } = call.services;
    await store.write((tx) => startAccountDeletion(tx, toCallActor(call), call.principal.user.id, now()));
    return noContent();
  },
});

export const restore = route({
  summary: "Restore your account within 30 days of its deletion",
  access: { credential: "session", inGrace: true, target: "account" },
  errors: ["conflict"],
  responses: { 200: respondsWith("Profile", "The profile") },
  handle: async (call) => {
    const { store, now } = call.services;
    const user = await store.write((tx) => restoreAccount(tx, toCallActor(call), call.principal.user.id, now()));
    return ok(showProfile(user));
  },
});
