/** Projects. */

import { Type } from "@sinclair/typebox";
import { requireFound } from "../../domain/errors";
import { MAX_NAME_CHARACTERS } from "../../domain/field-limits";
import { oneOf, strictObject, textField } from "../../domain/schema-parts";
import { PROJECT_STATES, type ProjectState } from "../../domain/states";
import { newId } from "../../lib/ids";
import type { Queries } from "../../store/db";
import { findProject, insertProject, type Project, type ProjectChange, updateProject } from "../../store/projects";
import { listSortedProjects } from "../../store/sorted-lists";
import { removeProject } from "../../work/assets/deletion";
import { requireRoomForProject } from "../../work/storage/limits";
import { type Call, created, createOnce, ok, type Reply } from "../call";
import { listRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { createOwnLoader, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";

export const name = textField(MAX_NAME_CHARACTERS);
export const state = oneOf(...PROJECT_STATES);
/** The filter of lists of projects. */
export const stateFilter = Type.Unsafe<ProjectState>({ ...state, default: "active" });

/** `cut_after_upload` is shown where creators are. */
export async function showProject({ authorship }: Call, project: Project): Promise<Resource<"Project">> {
  const author = await authorship(project.created_by);
  const { cut_mode: mode, cut_language: language } = project;
  const cutAfterUpload = { cut_after_upload: mode === null ? null : { mode, language } };
  return showRow(SCHEMAS.Project, project, { ...author, ...("created_by" in author && cutAfterUpload) });
}

export const projectLoader = createOwnLoader("Project", "project_id", findProject);

export const create = route({
  summary: "Create a project",
  example: { name: "Spring lectures" },
  errors: ["conflict"],
  body: strictObject({ name }),
  idempotent: true,
  responses: { 201: respondsWith("Project", "The project") },
  handle: async (call, { body }) => createOnce(call, async (tx) => replyCreated(call, tx, body)),
});

/** Creates a project, and returns the reply. Errors: `conflict` (too many projects). */
export async function replyCreated(
  call: Call,
  tx: Queries,
  own: Pick<Project, "name"> & Partial<Pick<Project, "cut_mode" | "cut_language">>,
): Promise<Reply> {
  await requireRoomForProject(tx, call.principal.workspace.id);
  const now = call.services.now();
  const project = await insertProject(tx, {
    id: newId(),
    workspace_id: call.principal.workspace.id,
    created_by: call.principal.user.id,
    ...own,
    state: "active",
    archived_at: null,
    created_at: now,
    updated_at: now,
    last_activity_at: now,
  });
  return created(call.url(`/projects/${project.id}`), await showProject(call, project));
}

export const list = listRoute({
  summary: "List projects, most recently active first",
  filters: { state: stateFilter },
  item: "Project",
  description: "A page of projects",
  read: ({ services, principal }, { filters, after, limit }) =>
    listSortedProjects(services.store.read, principal.workspace.id, {
      state: filters.state,
      sort: "last_activity_at",
      isDescending: true,
      q: null,
      ids: null,
      after,
      limit,
    }),
  sortKey: (project: Project): [number, string] => [project.last_activity_at, project.id],
  show: showProject,
});

export const read = route({
  summary: "Retrieve a project",
  responses: { 200: respondsWith("Project", "The project") },
  load: projectLoader,
  handle: async (call, { resource }) => ok(await showProject(call, resource)),
});

export const update = route({
  summary: "Rename, archive or restore a project",
  example: { state: "archived" },
  body: strictObject({ name: Type.Optional(name), state: Type.Optional(state) }),
  responses: { 200: respondsWith("Project", "The updated project") },
  load: projectLoader,
  handle: (call, { body, resource }) => replyChanged(call, resource, body),
});

type ChangedFields = Partial<Pick<Project, "name" | "state" | "cut_mode" | "cut_language">>;

/** Changes a project, and returns the reply. Errors: `not_found`. */
export async function replyChanged(call: Call, resource: Project, fields: ChangedFields): Promise<Reply> {
  const { services } = call;
  const now = services.now();
  const change: ProjectChange = { ...fields };
  if (fields.state !== undefined)
    change.archived_at = fields.state === "archived" ? (resource.archived_at ?? now) : null;
  if (Object.keys(change).length === 0) return ok(await showProject(call, resource));
  const changed = requireFound(
    await services.store.write((tx) => updateProject(tx, resource.id, change, now)),
    "Project",
  );
  return ok(await showProject(call, changed));
}

export const remove = route({
  summary: "Delete a project and everything in it",
  errors: ["upstream_unavailable"],
  responses: { 204: respondsWithNothing("Deleted") },
  load: projectLoader,
  handle: ({ services }, { resource }) => removeProject(services, resource.id),
});
