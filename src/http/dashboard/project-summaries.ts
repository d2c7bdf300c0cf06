/** Totals of projects for pages, and the choices of their filters. */
import { toSeconds } from "../../domain/time";
import { listProjectCreators, listProjectTags, type ProjectTotals, readProjectTotals } from "../../store/library";
import { findProject } from "../../store/projects";
import { ok } from "../call";
import { respondsWith } from "../response-docs";
import { createOwnLoader, route } from "../route";

const NO_TOTALS: Omit<ProjectTotals, "project_id"> = {
  recordings: 0,
  duration: 0,
  cut_duration: 0,
  kept: 0,
  without_cut: 0,
  to_review: 0,
  open_marks: 0,
};

export const showTotals = (totals: Omit<ProjectTotals, "project_id"> = NO_TOTALS) => ({
  recordings: totals.recordings,
  duration: toSeconds(totals.duration),
  cut_duration: toSeconds(totals.cut_duration),
  kept_duration: toSeconds(totals.kept),
  without_cut: totals.without_cut,
  to_review: totals.to_review,
  open_marks: totals.open_marks,
});

export const read = route({
  summary: "Retrieve the totals of a project, and the tags and people of its assets",
  responses: { 200: respondsWith("ProjectSummary", "The totals") },
  load: createOwnLoader("Project", "project_id", findProject),
  handle: async (call, { resource: { id } }) => {
    const db = call.services.store.read;
    const [totals, tags, creators] = await Promise.all([
      readProjectTotals(db, [id]),
      listProjectTags(db, id),
      listProjectCreators(db, id),
    ]);
    const people = await Promise.all(creators.map((userId) => call.authorship(userId)));
    return ok({
      ...showTotals(totals.get(id)),
      tags,
      creators: people.flatMap(({ created_by }) => created_by ?? []),
    });
  },
});
