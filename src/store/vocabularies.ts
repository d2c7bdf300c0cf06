/** Vocabularies of workspaces and projects. */
import { rowsOf } from "./rows";
import { vocabularies } from "./schema-cuts";

const vocabularyRows = rowsOf(vocabularies);

/** Returns the vocabulary of a workspace or a project; null if none was saved. */
export const findVocabulary = vocabularyRows.findById;

export const saveVocabulary = vocabularyRows.putBy(vocabularies.id);
