/** Search in the transcripts of a workspace. */

import { Type } from "@sinclair/typebox";
import { MAX_SEARCH_CHARACTERS } from "../../domain/field-limits";
import { textField, uuidField, withDescription } from "../../domain/schema-parts";
import { searchTranscripts } from "../../work/search/search";
import { listRoute } from "../list-route";

const SECOND_MS = 1000;

export const list = listRoute({
  summary: "Search the transcripts of the workspace, newest recordings first",
  filters: {
    q: withDescription(
      textField(MAX_SEARCH_CHARACTERS),
      "Words that must be spoken close together, in upper or lower case, with or without accents. Text in quotation marks is a phrase. The last word may be incomplete unless a space follows",
    ),
    project_id: Type.Optional(uuidField("Only recordings of this project")),
  },
  item: "SearchHit",
  description: "A page of passages with these words",
  read: ({ services, principal }, { filters, after, limit }) =>
    searchTranscripts(services, principal.workspace.id, filters.q, {
      projectId: filters.project_id ?? null,
      afterId: after === null ? null : Number(after[0]),
      limit,
    }),
  show: (_call, { id: _, start, end, ...hit }) => ({ ...hit, start: start / SECOND_MS, end: end / SECOND_MS }),
});
