/** The schema of a vocabulary. */
import { Type } from "@sinclair/typebox";
import { strictObject, withDescription } from "../fields";
import { integer, text } from "../schema-parts";

export const VOCABULARY_SCHEMAS = {
  Vocabulary: strictObject({
    entries: Type.Array(strictObject({ text, spoken_as: Type.Array(text) })),
    revision: withDescription(integer, "increases with each change; 0 before the vocabulary is saved"),
  }),
};
