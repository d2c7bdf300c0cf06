/** Share links: downloads of renders by people without an account. */
import { Type } from "@sinclair/typebox";
import { conflict } from "../../domain/errors";
import { MAX_SHARE_PASSWORD_CHARACTERS, MIN_SHARE_PASSWORD_CHARACTERS } from "../../domain/field-limits";
import { integerField, secretField, strictObject } from "../../domain/schema-parts";
import { findFile } from "../../lib/file-size";
import { newId } from "../../lib/ids";
import {
  deleteRenderShare,
  findRenderShare,
  insertRenderShare,
  listRenderShares,
  type RenderShare,
} from "../../store/render-shares";
import { toActor } from "../../work/access/access";
import { created, createOnce } from "../call";
import { offsetListRoute } from "../list-route";
import { renderLoader } from "../public/renders";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { getResource, type ResourceLoader, route } from "../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../schemas";

const MIN_LIFETIME_SECONDS = 3_600;
const MAX_LIFETIME_SECONDS = 30 * 86_400;
const MAX_SHARES = 100;

export const create = route({
  summary:
    "Create a link with which anyone can download a completed render. It stops working when the render is deleted or you lose access",
  example: { expires_in_seconds: 604_800 },
  errors: ["conflict", "upstream_unavailable"],
  body: strictObject({
    expires_in_seconds: integerField(
      MIN_LIFETIME_SECONDS,
      MAX_LIFETIME_SECONDS,
      "How long the link works: an hour to 30 days",
    ),
    password: Type.Optional({
      ...secretField("Password that the page of the link requires. Default: none", MAX_SHARE_PASSWORD_CHARACTERS),
      minLength: MIN_SHARE_PASSWORD_CHARACTERS,
      errorText: `must be a string of ${MIN_SHARE_PASSWORD_CHARACTERS} to ${MAX_SHARE_PASSWORD_CHARACTERS} characters`,
    }),
  }),
  idempotent: true,
  responses: { 201: respondsWith("ShareLink", "The link, which is not stored") },
  load: renderLoader,
  handle: async (call, { body, resource }) => {
    const { services } = call;
    if (resource.state !== "completed") throw conflict(`Render is ${resource.state}, not completed.`);
    // The file system may have lost it, or a backup without media was restored.
    const { guard, renderOutput } = services.folders;
    if ((await guard.readOnline(() => findFile(renderOutput(resource.id, resource.resolved.format)))) === null)
      throw conflict("The file of this render is missing. Delete the render and start it again.");
    const expiresAt = Math.floor(services.now() / 1000 + body.expires_in_seconds) * 1000;
    const { password } = body;
    const key = call.client.address ?? "unknown";
    const passwordHash = password === undefined ? null : await services.passwords.hash(key, password);
    return createOnce(call, async (tx) => {
      // Expired links do not count, because users cannot see and revoke them.
      const { total } = await listRenderShares(tx, resource.id, services.now(), { limit: 0, offset: 0 });
      if (total >= MAX_SHARES) throw conflict(`Limit of ${MAX_SHARES} links reached. Revoke one first.`);
      const { workspaceId, userId } = toActor(call.principal);
      const id = newId();
      await insertRenderShare(tx, {
        id,
        render_id: resource.id,
        workspace_id: workspaceId,
        password_hash: passwordHash,
        created_by: userId,
        created_at: services.now(),
        expires_at: expiresAt,
      });
      return created("", { id, expires_at: formatTime(expiresAt) });
    });
  },
  // A stored reply must not contain a signed link.
  complete: ({ services }, reply) => {
    const { id, expires_at } = reply.body as { id: string; expires_at: string };
    const url = services.links.signShare(id, Date.parse(expires_at));
    const page_url = services.links.signShare(id, Date.parse(expires_at), "page");
    return created(url, { url, page_url, expires_at } satisfies Resource<"ShareLink">);
  },
});

export const list = offsetListRoute({
  summary: "List the active links of a render, newest first",
  item: "RenderShare",
  description: "A page of links, without their addresses",
  read: async (call, page) => {
    const { id } = await getResource(call, renderLoader);
    return listRenderShares(call.services.store.read, id, call.services.now(), page);
  },
  show: async ({ authorship }, share: RenderShare): Promise<Resource<"RenderShare">> =>
    showRow(SCHEMAS.RenderShare, share, {
      has_password: share.password_hash !== null,
      ...(await authorship(share.created_by)),
    }),
});

const load: ResourceLoader<RenderShare> = {
  name: "Link",
  find: async (call) => {
    const render = await renderLoader.find(call);
    return render && findRenderShare(call.services.store.read, render.id, call.params.share_id!);
  },
};

export const revoke = route({
  summary: "Revoke a link of a render",
  responses: { 204: respondsWithNothing("Revoked") },
  load,
  handle: ({ services }, { resource }) => services.store.write((tx) => deleteRenderShare(tx, resource.id)),
});
