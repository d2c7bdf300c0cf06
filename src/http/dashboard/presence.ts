/** Who has a cut open. Pages call this while they show it. */
import { hasCut } from "../../store/cuts";
import { formatUserName } from "../../store/users";
import { ok } from "../call";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { createOwnLoader, route } from "../route";
import type { Resource } from "../schemas";

const load = createOwnLoader("Cut", "cut_id", async (db, workspaceId, id) =>
  (await hasCut(db, workspaceId, id)) ? { workspaceId, cutId: id } : null,
);

export const enter = route({
  summary:
    "Report that you have a cut open. Repeat it every 10 seconds: after 30 seconds without a call, you count as gone",
  responses: { 200: respondsWith("CutPresence", "Everybody who has the cut open, you included") },
  load,
  handle: async ({ services, principal }, { resource }) => {
    const { user } = principal;
    const users = services.presence.enter(resource, { id: user.id, name: formatUserName(user) });
    return ok({ users } satisfies Resource<"CutPresence">);
  },
});

export const leave = route({
  summary: "Report that you have closed a cut",
  responses: { 204: respondsWithNothing("Recorded") },
  load,
  handle: async ({ services, principal }, { resource }) => services.presence.leave(resource, principal.user.id),
});
