/** /v1/projects */
import { Type } from "@sinclair/typebox";
import { AppError } from "../../domain/errors";
import { newId } from "../../lib/ids";
import { toPage } from "../../store/paging";
import { findProject, insertProject, listProjects, type Project, updateProject } from "../../store/projects";
import { removeProject } from "../../work/deletion";
import { withIdempotencyKey } from "../../work/idempotency";
import { created, formatTime, noContent, ok } from "../call";
import { oneOf, pagingParameters, strictObject, textField } from "../fields";
import { respondsWith, respondsWithNothing, respondsWithPage } from "../response-docs";
import { type Route, route } from "../route";

const name = textField(256);
const state = oneOf("active", "archived");

/** A project as the API shows it. */
const show = (project: Project) => ({
  id: project.id,
  name: project.name,
  state: project.state,
  archived_at: formatTime(project.archived_at),
  created_at: formatTime(project.created_at),
  updated_at: formatTime(project.updated_at),
  last_activity_at: formatTime(project.last_activity_at),
});

const path = "/projects/:project_id";
const load = (call: Parameters<NonNullable<Parameters<typeof route>[0]["load"]>>[0]) =>
  findProject(call.services.store.read, call.user.id, call.params.project_id!);

export const projectRoutes: Route[] = [
  route({
    method: "POST",
    path: "/projects",
    summary: "Make a project",
    example: { name: "Spring lectures" },
    body: strictObject({ name }),
    idempotent: true,
    responses: { 201: respondsWith("Project", "The project") },
    handle: async ({ services, user, idempotency }, { body }) => {
      const now = services.now();
      return services.store.write((tx) =>
        withIdempotencyKey(tx, idempotency, now, async () => {
          const project = await insertProject(tx, {
            id: newId(),
            user_id: user.id,
            name: body.name,
            state: "active",
            created_at: now,
            updated_at: now,
            last_activity_at: now,
          });
          const { status, headers } = created(`/v1/projects/${project.id}`, null);
          return { status, body: show(project), headers: headers ?? {} };
        }),
      );
    },
  }),
  route({
    method: "GET",
    path: "/projects",
    summary: "List projects, the most recently active first",
    query: strictObject({ ...pagingParameters(), state: Type.Optional(state) }),
    responses: { 200: respondsWithPage("Project", "A page of projects") },
    handle: async ({ services, user }, { query }) => {
      const shownState = query.state ?? "active";
      const list = `projects ${user.id} ${shownState}`;
      const after = query.cursor ? services.cursors.decode(list, query.cursor) : null;
      const rows = await listProjects(services.store.read, user.id, {
        state: shownState,
        after: after && { lastActivityAt: Number(after[0]), id: String(after[1]) },
        limit: query.limit + 1,
      });
      return ok(
        toPage(rows, query.limit, show, (row) => services.cursors.encode(list, [row.last_activity_at, row.id])),
      );
    },
  }),
  route({
    method: "GET",
    path,
    summary: "Read a project",
    responses: { 200: respondsWith("Project", "The project") },
    load,
    handle: async (_, { resource }) => ok(show(resource)),
  }),
  route({
    method: "PATCH",
    path,
    summary: "Rename, archive or restore a project",
    example: { state: "archived" },
    body: strictObject({ name: Type.Optional(name), state: Type.Optional(state) }),
    responses: { 200: respondsWith("Project", "The project as it is now") },
    load,
    handle: async ({ services }, { body, resource }) => {
      const now = services.now();
      const archivedAt = body.state === "archived" ? (resource.archived_at ?? now) : null;
      const change = {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.state === undefined ? {} : { state: body.state, archived_at: archivedAt }),
      };
      if (Object.keys(change).length === 0) return ok(show(resource));
      const changed = await services.store.write((tx) =>
        updateProject(tx, resource.id, { ...change, updated_at: now }),
      );
      if (!changed) throw new AppError("not_found", "There is no such project.");
      return ok(show(changed));
    },
  }),
  route({
    method: "DELETE",
    path,
    summary: "Delete a project and everything in it",
    responses: { 204: respondsWithNothing("Deleted") },
    load,
    handle: async ({ services }, { resource }) => {
      await removeProject(services, resource.id);
      return noContent();
    },
  }),
];
