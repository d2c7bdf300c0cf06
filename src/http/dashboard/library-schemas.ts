/**
 * The schemas of the library: recordings and projects with their cuts, renders and totals, search results and
 * vocabularies.
 */
import { Type } from "@sinclair/typebox";
import { enumeration, id, integer, orNull, strictObject, text, time, withDescription } from "../../domain/schema-parts";
import { CUT_STATES, RENDER_STATES } from "../../domain/states";
import { MAX_TILE_RECORDINGS } from "../../store/library";
import { authorship, PUBLIC_SCHEMAS } from "../public/schemas";

const share = orNull(Type.Number({ minimum: 0, maximum: 1 }), "finished share; null unless it is running");
const count = (description: string) => Type.Integer({ minimum: 0, description });
const seconds = (description: string) => Type.Number({ minimum: 0, description });

const totals = {
  recordings: count("recordings without those that are being uploaded"),
  duration: seconds("duration of all recordings, in seconds"),
  cut_duration: seconds("duration of the recordings that have a cut"),
  kept_duration: seconds("what their newest cuts keep"),
  without_cut: count("recordings without a cut"),
  to_review: count("recordings whose newest cut has open marks"),
  open_marks: count("marks and unsure removals of the newest cuts about which nothing was decided"),
  uncounted: count("recordings whose newest cut was made by an older version and has not been counted yet"),
};

export const LIBRARY_SCHEMAS = {
  ListedAsset: strictObject({
    ...PUBLIC_SCHEMAS.AssetDetail.properties,
    latest_cut: orNull(
      strictObject({
        id,
        kept_duration: orNull(Type.Number({ minimum: 0 }), "in seconds; null until an older cut has been counted"),
        open_marks: orNull(
          Type.Integer({ minimum: 0 }),
          "marks and unsure removals about which nothing was decided; null until an older cut has been counted",
        ),
      }),
      "the newest completed cut",
    ),
    open_cut: orNull(strictObject({ id, state: enumeration(CUT_STATES), progress: share }), "a cut that is being made"),
    last_render: orNull(
      strictObject({
        id,
        cut_id: orNull(id),
        state: enumeration(RENDER_STATES),
        error_code: orNull(text),
        progress: share,
        completed_at: orNull(time),
      }),
      "the newest render",
    ),
  }),
  ListedProject: strictObject({
    ...PUBLIC_SCHEMAS.Project.properties,
    totals: strictObject(totals),
    newest_assets: Type.Array(strictObject({ id, has_poster: Type.Boolean() }), {
      maxItems: MAX_TILE_RECORDINGS,
      description: "the newest assets with a poster or, without one, an envelope",
    }),
  }),
  BatchExport: strictObject({
    id,
    state: enumeration(["waiting", "running", "completed", "failed"]),
    total: count("assets of the request"),
    done: count("assets that were processed, with or without problems"),
    problems: Type.Array(
      strictObject({
        asset_id: id,
        name: orNull(text),
        message: text,
      }),
      { description: "parts that are missing from the archive, and the reasons" },
    ),
  }),
  ProjectSummary: strictObject({
    ...totals,
    tags: Type.Array(text, { description: "tags of the recordings, the most frequent ones first; at most 100" }),
    creators: Type.Array(authorship.created_by, { description: "who has added recordings" }),
  }),
  SearchHit: strictObject({
    asset_id: id,
    asset_name: orNull(text, "the name of the recording, or its file name"),
    project_id: id,
    start: seconds("where the words are closest together in the recording, in seconds"),
    end: seconds("where the first of these words ends"),
    snippet: Type.String({ description: "the passage" }),
    matches: Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
      description: "the matches in `snippet`: the first character and the one after the last, in UTF-16 code units",
    }),
  }),
  Vocabulary: strictObject({
    entries: Type.Array(strictObject({ text, spoken_as: Type.Array(text) })),
    revision: withDescription(integer, "increases with each change; 0 before the vocabulary is saved"),
  }),
  CommonForm: strictObject({ is_common: Type.Boolean() }),
};
