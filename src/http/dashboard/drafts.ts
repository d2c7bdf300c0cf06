/** Cuts as pages show them and why they remove spans, and their drafts: edits that are not saved as a cut yet. */
import { Type } from "@sinclair/typebox";
import { requireFound } from "../../domain/errors";
import { revisionField, strictObject } from "../../domain/schema-parts";
import { runLargeTasksSerially } from "../../lib/large-tasks";
import { type Draft, findCut, findCutRow, findDraft, readDraftRevision } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { countStepsBefore, findLatestStep } from "../../store/steps";
import { discardDraft, updateDraft } from "../../work/cuts/drafts";
import { explainCut } from "../../work/cuts/plan-files";
import { judgeCut } from "../../work/cuts/stored-basis";
import { renameCut } from "../../work/cuts/versions";
import { type Call, ok, okJsonText } from "../call";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { cutLabel, cutLoader, readCutLabel, showCut, showCutDetailJson } from "../public/cuts";
import { editedSegments, editedTexts, readPlanEdit } from "../public/edit-fields";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { createOwnLoader, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";

const load = createOwnLoader("Draft", "cut_id", findDraft);

const showDraft = async ({ authorship }: Call, draft: Draft): Promise<Resource<"Draft">> =>
  showRow(SCHEMAS.Draft, draft, { updated_by: (await authorship(draft.updated_by)).created_by ?? null });

export const readCut = route({
  summary: "Retrieve a cut with its plan, and whether it has a draft",
  query: strictObject({
    plan: Type.Optional(
      Type.Union([Type.Literal("true"), Type.Literal("false")], {
        description: "`false`: without the plan, which can be large",
        errorText: "must be true or false",
      }),
    ),
  }),
  responses: { 200: respondsWith("CutWithDraft", "The cut") },
  load: createOwnLoader("Cut", "cut_id", findCutRow),
  handle: async (call, { resource, query }) => {
    const { read } = call.services.store;
    const more = {
      draft_revision: await readDraftRevision(read, resource.id),
      jobs_before: resource.state === "pending" ? await countJobsBefore(read, resource.id) : null,
    };
    if (query.plan === "false")
      return ok({ ...(await showCut(call, resource)), ...more, plan: null } satisfies Resource<"CutWithDraft">);
    const cut = requireFound(await findCut(read, resource.workspace_id, resource.id), "Cut");
    if (cut.plan === null) return okJsonText(await showCutDetailJson(call, cut, more));
    const plan = await runLargeTasksSerially(cut.plan, () => judgeCut(cut, JSON.parse(cut.plan!)));
    return ok({ ...(await showCut(call, cut)), ...more, plan } satisfies Resource<"CutWithDraft">);
  },
});

async function countJobsBefore(db: Queries, cutId: string): Promise<number | null> {
  const step = await findLatestStep(db, cutId);
  return step && countStepsBefore(db, step);
}

export const updateLabel = route({
  summary: "Change the name or the note of a cut",
  example: { name: "For the client", note: "Without the second question" },
  errors: ["conflict"],
  body: strictObject(cutLabel),
  responses: { 200: respondsWith("Cut", "The cut without its plan") },
  load: cutLoader,
  handle: async (call, { body, resource }) =>
    ok(await showCut(call, await renameCut(call.services, resource, readCutLabel(body)))),
});

export const read = route({
  summary: "Retrieve the draft of a cut",
  responses: { 200: respondsWith("Draft", "The draft") },
  load,
  handle: async (call, { resource }) => ok(await showDraft(call, resource)),
});

export const update = route({
  summary: "Save the draft of a cut. It is deleted when an edit of the cut is created",
  example: { revision: 0, segments: [{ start: 1.3, end: 5.8 }], texts: [{ start: 1.42, end: 2.05, text: "Offcut" }] },
  errors: ["conflict", "upstream_unavailable"],
  maxBodyBytes: MAX_LARGE_BODY_BYTES,
  body: strictObject({
    revision: revisionField("The last revision that was read; 0 without a draft"),
    segments: editedSegments(0),
    texts: editedTexts,
  }),
  responses: { 200: respondsWith("Draft", "The draft with its new revision") },
  load: cutLoader,
  handle: async (call, { body, resource }) => {
    const { services, principal } = call;
    const change = { ...readPlanEdit(body), revision: body.revision, userId: principal.user.id };
    return ok(await showDraft(call, await updateDraft(services, resource, change)));
  },
});

export const remove = route({
  summary: "Discard the draft of a cut",
  errors: ["conflict"],
  query: strictObject({
    revision: Type.Optional(revisionField("The last revision that was read", 1)),
  }),
  responses: { 204: respondsWithNothing("Deleted") },
  load,
  handle: ({ services }, { resource, query }) => discardDraft(services, resource, query.revision ?? null),
});

export const readExplanation = route({
  summary: "Explain a cut: the rule and the scores behind each removed and marked span",
  errors: ["conflict", "upstream_unavailable", "rate_limited"],
  responses: { 200: respondsWith("CutExplanation", "The explanation") },
  load: cutLoader,
  handle: async ({ services }, { resource }) => okJsonText(await explainCut(services, resource)),
});
