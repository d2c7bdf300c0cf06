/** Projects of the dashboard, which can cut their new recordings, and their totals. */

import { type Static, Type } from "@sinclair/typebox";
import { CUT_MODE_NAMES } from "../../domain/plan";
import { oneOf, optional, orNull, strictObject } from "../../domain/schema-parts";
import { toSeconds } from "../../domain/time";
import type { Queries } from "../../store/db";
import {
  listProjectCreators,
  listProjectTags,
  type ProjectTotals,
  type RecordingPicture,
  readProjectPictures,
  readProjectTotals,
} from "../../store/library";
import type { Project } from "../../store/projects";
import type { Services } from "../../work/services";
import { type Call, createOnce, ok } from "../call";
import { language } from "../public/assets";
import { name, projectLoader, replyChanged, replyCreated, showProject, state } from "../public/projects";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

const cutAfterUpload = orNull(
  strictObject({
    mode: optional(oneOf(...CUT_MODE_NAMES), "Default: the project's mode, otherwise the server's default"),
    language: optional(language, "Language of recordings that are uploaded without one. Null: it is detected"),
  }),
);
const CUT_AFTER_UPLOAD =
  "Settings with which new recordings are cut as soon as they are cuttable. Null: they are not cut";

type CutAfterUpload = Static<typeof cutAfterUpload>;

/** Returns the columns for the setting in a request. `current`: those of the project. */
function toColumns(
  { config }: Services,
  given: CutAfterUpload,
  current: Pick<Project, "cut_mode" | "cut_language">,
): Pick<Project, "cut_mode" | "cut_language"> {
  const usual = config.cutAfterUpload === "off" ? null : config.cutAfterUpload;
  const mode = given === null ? null : (given.mode ?? current.cut_mode ?? usual);
  if (given === null || mode === null) return { cut_mode: null, cut_language: null };
  const { language: code = current.cut_language } = given;
  return { cut_mode: mode, cut_language: code?.toLowerCase() ?? null };
}

export const create = route({
  summary: "Create a project",
  example: { name: "Spring lectures", cut_after_upload: { mode: "natural" } },
  errors: ["conflict"],
  body: strictObject({
    name,
    cut_after_upload: optional(cutAfterUpload, `${CUT_AFTER_UPLOAD}. Default: null`),
  }),
  idempotent: true,
  responses: { 201: respondsWith("Project", "The project") },
  handle: (call, { body }) => {
    const off = { cut_mode: null, cut_language: null };
    const columns = toColumns(call.services, body.cut_after_upload ?? null, off);
    return createOnce(call, (tx) => replyCreated(call, tx, { name: body.name, ...columns }));
  },
});

export const update = route({
  summary: "Rename, archive or restore a project, or change how its new recordings are cut",
  example: { cut_after_upload: { mode: "tight", language: "de" } },
  body: strictObject({
    name: Type.Optional(name),
    state: Type.Optional(state),
    cut_after_upload: optional(cutAfterUpload, CUT_AFTER_UPLOAD),
  }),
  responses: { 200: respondsWith("Project", "The updated project") },
  load: projectLoader,
  handle: (call, { body, resource }) => {
    const { cut_after_upload: given, ...fields } = body;
    return replyChanged(call, resource, {
      ...fields,
      ...(given !== undefined && toColumns(call.services, given, resource)),
    });
  },
});

const showTotals = ({ kept, ...totals }: ProjectTotals) => ({
  ...totals,
  duration: toSeconds(totals.duration),
  cut_duration: toSeconds(totals.cut_duration),
  kept_duration: toSeconds(kept),
});

/** A project with the contents of its tile. */
export type ListedProject = { row: Project; totals: ProjectTotals; newest: RecordingPicture[] };

/** Reads the contents of the tiles of these projects. */
export async function readListedProjects(db: Queries, rows: Project[]): Promise<ListedProject[]> {
  const ids = rows.map(({ id }) => id);
  const [totals, newest] = await Promise.all([readProjectTotals(db, ids), readProjectPictures(db, ids)]);
  return rows.map((row) => ({ row, totals: totals.get(row.id)!, newest: newest.get(row.id) ?? [] }));
}

export const showListedProject = async (
  call: Call,
  { row, totals, newest }: ListedProject,
): Promise<Resource<"ListedProject">> => ({
  ...(await showProject(call, row)),
  totals: showTotals(totals),
  newest_assets: newest,
});

export const readSummary = route({
  summary: "Retrieve the totals of a project, and the tags and people of its assets",
  responses: { 200: respondsWith("ProjectSummary", "The totals") },
  load: projectLoader,
  handle: async (call, { resource: { id } }) => {
    const db = call.services.store.read;
    const [totals, tags, creators] = await Promise.all([
      readProjectTotals(db, [id]),
      listProjectTags(db, id),
      listProjectCreators(db, id),
    ]);
    const people = await Promise.all(creators.map((userId) => call.authorship(userId)));
    return ok({
      ...showTotals(totals.get(id)!),
      tags,
      creators: people.flatMap(({ created_by }) => created_by ?? []),
    });
  },
});
