/** The schema of what a search finds. */
import { Type } from "@sinclair/typebox";
import { strictObject } from "../fields";
import { id, orNull, text } from "../schema-parts";

const seconds = (description: string) => Type.Number({ minimum: 0, description });

export const SEARCH_SCHEMAS = {
  SearchHit: strictObject({
    asset_id: id,
    asset_name: orNull(text, "the name of the recording, or its file name"),
    project_id: id,
    start: seconds("where the first match starts in the recording, in seconds"),
    end: seconds("where the first match ends"),
    snippet: Type.String({ description: "the passage" }),
    matches: Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
      description: "the matches in `snippet`: the first character and the one after the last, in UTF-16 code units",
    }),
  }),
};
