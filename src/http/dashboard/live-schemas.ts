/** The schemas of live events and of who has a cut open. */
import { Type } from "@sinclair/typebox";
import { strictObject, withDescription } from "../fields";
import { id, orNull, text } from "../schema-parts";

const presentUser = strictObject({ id, name: orNull(text) });

export const LIVE_SCHEMAS = {
  LiveChange: strictObject({
    entity_id: withDescription(id, "ID of the resource; for credits, of the workspace"),
    state: orNull(
      text,
      "state of the resource, or `deleted`; null for credits, reviews, presence and most notifications",
    ),
    revision: Type.Optional(Type.Integer({ minimum: 1, description: "of a draft or a review" })),
    users: Type.Optional(Type.Array(presentUser, { description: "everybody who has the cut open" })),
  }),
  LiveProgress: strictObject({
    entity_id: withDescription(id, "ID of the asset, cut or render"),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
  }),
  CutPresence: strictObject({ users: Type.Array(presentUser) }),
};
