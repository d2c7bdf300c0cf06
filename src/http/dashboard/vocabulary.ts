/** Vocabularies: names and terms as they are written, of a workspace and of its projects. */
import { Type } from "@sinclair/typebox";
import { requireFound } from "../../domain/errors";
import { MAX_ENTRIES, MAX_SPOKEN_FORMS, MAX_TERM_CHARACTERS } from "../../domain/vocabulary/entries";
import { findProject } from "../../store/projects";
import { readVocabulary, updateVocabulary, type VocabularyOwner } from "../../work/vocabulary/vocabulary";
import { type Call, ok } from "../call";
import { strictObject, textField, uuidField, withDescription } from "../fields";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

const query = strictObject({
  project_id: Type.Optional(
    uuidField("A project of the workspace. Without it, the vocabulary is that of the workspace"),
  ),
});

const term = textField(MAX_TERM_CHARACTERS);

/** Returns the owner that the query names. Throws `AppError` `not_found`. */
async function getOwner({ services, principal }: Call, projectId: string | undefined): Promise<VocabularyOwner> {
  const workspaceId = principal.workspace.id;
  if (projectId === undefined) return { workspaceId, projectId: null };
  const project = await findProject(services.store.read, workspaceId, projectId.toLowerCase());
  return { workspaceId, projectId: requireFound(project, "Project").id };
}

export const read = route({
  summary: "Retrieve the vocabulary of the workspace or of a project",
  query,
  responses: { 200: respondsWith("Vocabulary", "The vocabulary; empty with revision 0 before it is saved") },
  handle: async (call, { query: { project_id } }) =>
    ok(
      (await readVocabulary(
        call.services.store.read,
        await getOwner(call, project_id),
      )) satisfies Resource<"Vocabulary">,
    ),
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
    revision: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        "The last revision that was read; 0 before it is saved. If it is not the stored one, this is a conflict",
      errorText: "must be an integer from 0",
    }),
    entries: Type.Array(
      strictObject({
        text: withDescription(term, "The term as it is written"),
        spoken_as: Type.Array(term, {
          maxItems: MAX_SPOKEN_FORMS,
          description: "Other forms that are replaced with the term wherever they are recognized",
          errorText: `must be a list of at most ${MAX_SPOKEN_FORMS} forms`,
        }),
      }),
      {
        maxItems: MAX_ENTRIES,
        description: "Replaces all entries. A project's entries win over those of its workspace",
        errorText: `must be a list of at most ${MAX_ENTRIES} entries`,
      },
    ),
  }),
  responses: { 200: respondsWith("Vocabulary", "The vocabulary with its new revision") },
  handle: async (call, { query: { project_id }, body }) => {
    const change = { ...body, userId: call.principal.user.id };
    return ok(
      (await updateVocabulary(
        call.services,
        await getOwner(call, project_id),
        change,
      )) satisfies Resource<"Vocabulary">,
    );
  },
});
