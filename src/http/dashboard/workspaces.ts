/** Workspaces of the user. The call acts in the workspace in the path. */

import { Type } from "@sinclair/typebox";
import { MAX_NAME_CHARACTERS } from "../../domain/field-limits";
import { strictObject, textField, uuidField } from "../../domain/schema-parts";
import { readBalance, readCreditsUsed, readTotalHeld } from "../../store/credits";
import { countWorkspaceContent } from "../../store/purge";
import { countMembers, listWorkspaces, type OwnWorkspace } from "../../store/workspace-members";
import { findWorkspaceById, type Workspace } from "../../store/workspaces";
import { findOnlyWorkspace } from "../../work/access/access";
import { readStorageQuota } from "../../work/storage/limits";
import { changeWorkspaceName, createWorkspace, removeWorkspace } from "../../work/workspaces/workspaces";
import { type Call, created, createOnce, ok } from "../call";
import { offsetListRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { type ResourceLoader, route } from "../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../schemas";
import { toCallActor } from "./sign-in-client";

export const showWorkspace = ({ workspace, role }: OwnWorkspace): Resource<"Workspace"> =>
  showRow(SCHEMAS.Workspace, workspace, { role });

const load: ResourceLoader<Workspace> = {
  name: "Workspace",
  find: ({ services, principal }: Call) => findWorkspaceById(services.store.read, principal.workspace.id),
};

const body = strictObject({ name: textField(MAX_NAME_CHARACTERS) });

export const list = offsetListRoute({
  summary: "List your workspaces, the personal one first; with an API key, the one that the key is for",
  access: { target: "account" },
  filters: {
    containing: Type.Optional(
      uuidField(
        "Only the workspace with this project, asset, cut, render, pipeline, webhook endpoint or order. The list is empty if none of your workspaces contains it",
      ),
    ),
  },
  item: "Workspace",
  description: "A page of workspaces",
  read: ({ services, principal }, { filters, ...page }) => {
    const filter = { onlyId: findOnlyWorkspace(principal), containing: filters.containing ?? null, ...page };
    return listWorkspaces(services.store.read, principal.user.id, filter);
  },
  show: (_, row) => showWorkspace(row),
});

export const create = route({
  summary:
    "Create a workspace, which you own. The first one each day starts with credits, unless your account got none",
  example: { name: "Studio" },
  access: { credential: "session", target: "account" },
  errors: ["conflict"],
  body,
  idempotent: true,
  responses: { 201: respondsWith("Workspace", "The workspace") },
  handle: async (call, { body }) =>
    createOnce(call, async (tx) => {
      const now = call.services.now();
      const request = { userId: call.principal.user.id, name: body.name, now };
      const workspace = await createWorkspace(call.services, tx, toCallActor(call), request);
      return created(call.url(`/workspaces/${workspace.id}`), showWorkspace({ workspace, role: "owner" }));
    }),
});

export const read = route({
  summary: "Retrieve a workspace with its content, storage and credits",
  responses: { 200: respondsWith("WorkspaceDetail", "The workspace") },
  load,
  handle: async ({ services, principal }, { resource }) => {
    const { read: db } = services.store;
    const { bytes, projects, assets, renders } = await countWorkspaceContent(db, resource.id);
    return ok({
      ...showWorkspace({ workspace: resource, role: principal.workspace.role }),
      created_at: formatTime(resource.created_at),
      member_count: await countMembers(db, resource.id),
      project_count: projects,
      asset_count: assets,
      render_count: renders,
      storage_used_bytes: bytes,
      storage_quota_bytes: await readStorageQuota(services, db, resource.id),
      credits_balance: await readBalance(db, resource.id),
      credits_held: await readTotalHeld(db, resource.id),
      credits_used: await readCreditsUsed(db, resource.id),
    } satisfies Resource<"WorkspaceDetail">);
  },
});

export const update = route({
  summary: "Rename a workspace",
  example: { name: "Studio" },
  access: { credential: "session", ownersOnly: true },
  body,
  responses: { 200: respondsWith("Workspace", "The updated workspace") },
  load,
  handle: async (call, { body, resource }) => {
    const { services, principal } = call;
    const request = { workspaceId: resource.id, name: body.name, now: services.now() };
    const workspace = await services.store.write((tx) => changeWorkspaceName(tx, toCallActor(call), request));
    return ok(showWorkspace({ workspace, role: principal.workspace.role }));
  },
});

export const remove = route({
  summary: "Delete a workspace with everything in it. Its credits are lost",
  access: { credential: "session", ownersOnly: true },
  errors: ["conflict", "upstream_unavailable"],
  responses: { 204: respondsWithNothing("Deleted") },
  load,
  handle: async (call, { resource }) => {
    const request = { workspaceId: resource.id, ownerId: call.principal.user.id };
    await removeWorkspace(call.services, toCallActor(call), request);
  },
});
