/** Vocabularies: names and terms as they are written, of a workspace and of its projects. */
import { Type } from "@sinclair/typebox";
import { requireFound } from "../../domain/errors";
import {
  listField,
  optional,
  revisionField,
  strictObject,
  textField,
  uuidField,
  withDescription,
} from "../../domain/schema-parts";
import { cleanTerm, MAX_ENTRIES, MAX_SPOKEN_FORMS, MAX_TERM_CHARACTERS } from "../../domain/vocabulary/entries";
import { findProject } from "../../store/projects";
import { loadCommonForms } from "../../work/vocabulary/replace-words";
import { readVocabulary, updateVocabulary, type VocabularyOwner } from "../../work/vocabulary/vocabulary";
import { type Call, ok } from "../call";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

const query = strictObject({
  project_id: Type.Optional(uuidField("A project of the workspace. Default: the workspace itself")),
});

/** `language_detected` has three letters where no code of two exists. */
const language = Type.String({ pattern: "^[A-Za-z]{2,3}$", errorText: "must be a 2- or 3-letter ISO 639 code" });

const term = textField(MAX_TERM_CHARACTERS);
const SPOKEN_AS =
  "Other forms that are replaced with the term wherever they are recognized; common English words and function words only where the built-in recognizer finds that the audio fits the term";
const entry = strictObject({
  text: withDescription(term, "The term as it is written"),
  spoken_as: listField(term, 0, MAX_SPOKEN_FORMS, "forms", SPOKEN_AS),
});

/** Returns the owner that the query names. Throws `AppError` `not_found`. */
async function getOwner({ services, principal }: Call, projectId: string | undefined): Promise<VocabularyOwner> {
  const workspaceId = principal.workspace.id;
  if (projectId === undefined) return { workspaceId, projectId: null };
  const project = await findProject(services.store.read, workspaceId, projectId);
  return { workspaceId, projectId: requireFound(project, "Project").id };
}

export const read = route({
  summary: "Retrieve the vocabulary of the workspace or of a project",
  query,
  responses: { 200: respondsWith("Vocabulary", "The vocabulary; empty with revision 0 before it is saved") },
  handle: async (call, { query: { project_id } }) => {
    const found = await readVocabulary(call.services.store.read, await getOwner(call, project_id));
    return ok(found satisfies Resource<"Vocabulary">);
  },
});

export const update = route({
  summary:
    "Replace the vocabulary of the workspace or of a project. It applies to recordings that are transcribed and to cuts that are made from then on",
  example: {
    revision: 0,
    entries: [
      { text: "Przybylski", spoken_as: ["Prizbilski"] },
      { text: "Offcut", spoken_as: ["off cut"] },
    ],
  },
  errors: ["conflict", "upstream_unavailable"],
  maxBodyBytes: MAX_LARGE_BODY_BYTES,
  query,
  body: strictObject({
    revision: revisionField("The last revision that was read; 0 before it is saved"),
    entries: listField(
      entry,
      0,
      MAX_ENTRIES,
      "entries",
      "Replaces all entries. A project's entries win over those of its workspace",
    ),
  }),
  responses: { 200: respondsWith("Vocabulary", "The vocabulary with its new revision") },
  handle: async (call, { query: { project_id }, body }) => {
    const change = { ...body, userId: call.principal.user.id };
    const updated = await updateVocabulary(call.services, await getOwner(call, project_id), change);
    return ok(updated satisfies Resource<"Vocabulary">);
  },
});

export const readCommonForm = route({
  summary: "Retrieve whether a recognized form is too common to be a spoken form of a term",
  query: strictObject({
    text: withDescription(term, "The form as it was recognized"),
    language: optional(language, "Language of the recording. Default: unknown, which is treated as English"),
  }),
  responses: {
    200: respondsWith("CommonForm", "Whether the form is a common English word, or consists only of function words"),
  },
  handle: async (_call, { query: { text, language: code = null } }) => {
    const { isCommonForm } = await loadCommonForms(code);
    return ok({ is_common: isCommonForm(cleanTerm(text)) } satisfies Resource<"CommonForm">);
  },
});
