/** Cuts: planned ones and edited ones. Exports and subtitles are in `cut-exports.ts`. */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { invalidField, requireFound } from "../../domain/errors";
import { MAX_CUT_NAME_CHARACTERS, MAX_CUT_NOTE_CHARACTERS } from "../../domain/field-limits";
import { type PacingOptions, toPacingOptions } from "../../domain/pacing/repace";
import {
  CUT_MODE_NAMES,
  CUT_MODES,
  CUT_OPTION_LIMITS,
  type CutOptions,
  MANUAL_MODE,
  MANUAL_OPTIONS,
} from "../../domain/plan";
import type { PlanJson } from "../../domain/plan-json";
import { findScriptLimit, MAX_SCRIPT_CHARACTERS, MAX_SCRIPT_WORDS } from "../../domain/planning/scripted/script-limits";
import {
  clearableText,
  emptyToNull,
  oneOf,
  optional,
  optionalFlag,
  orNull,
  revisionField,
  strictObject,
  uuidField,
} from "../../domain/schema-parts";
import { CUT_STATES } from "../../domain/states";
import type { CutStepParams } from "../../domain/step-params";
import { runLargeTasksSerially } from "../../lib/large-tasks";
import { findAsset } from "../../store/assets";
import { type Cut, type CutRow, findCut, listCuts } from "../../store/cuts";
import { toActor } from "../../work/access/access";
import { removeCut } from "../../work/assets/deletion";
import { prepareEdit } from "../../work/cuts/edits";
import { createManualCut } from "../../work/cuts/manual";
import type { CutLabel } from "../../work/cuts/new-cuts";
import { createCut } from "../../work/cuts/requests";
import { type Call, created, createOnce, ok, okJsonText, type Reply } from "../call";
import { listRoute } from "../list-route";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { createOwnLoader, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";
import { editedSegments, editedTexts, readPlanEdit } from "./edit-fields";

const secondsField = (name: keyof typeof CUT_OPTION_LIMITS, description: string) => {
  const { min: minimum, max: maximum } = CUT_OPTION_LIMITS[name];
  const errorText = `must be a number from ${minimum} to ${maximum}`;
  return Type.Optional(Type.Number({ minimum, maximum, description, errorText }));
};

const planOptions = {
  mode: optional(oneOf(...CUT_MODE_NAMES), "Sets the defaults of the other options. Default: natural"),
  min_silence_seconds: secondsField(
    "min_silence_seconds",
    "Shortest pause that is removed. Default: tight 0.25, natural 0.5, loose 0.9",
  ),
  padding_before_seconds: secondsField(
    "padding_before_seconds",
    "Silence kept before speech. Default: tight 0.04, natural 0.12, loose 0.25",
  ),
  padding_after_seconds: secondsField(
    "padding_after_seconds",
    "Silence kept after speech. Default: tight 0.06, natural 0.18, loose 0.35",
  ),
  remove_fillers: optionalFlag("Removes fillers such as um and uh. Default: true in tight and natural, false in loose"),
  remove_retakes: optionalFlag("Keeps only the best take of each line. Default: true"),
};

/** The options of a cut that may also be made by hand. */
const options = strictObject({
  ...planOptions,
  mode: optional(
    oneOf(...CUT_MODE_NAMES, MANUAL_MODE),
    "Sets the defaults of the other options. Default: natural. manual: keeps the whole recording, to be cut by hand; needs neither words nor audio",
  ),
});

export const cutLabel = {
  name: optional(clearableText(MAX_CUT_NAME_CHARACTERS), "null or blank: without a name"),
  note: Type.Optional(clearableText(MAX_CUT_NOTE_CHARACTERS)),
};

type LabelBody = { name?: string | null; note?: string | null };

/** Returns the fields of a request that are not missing; blank ones are null. */
export const readCutLabel = ({ name, note }: LabelBody): Partial<CutLabel> => ({
  ...(name !== undefined && { name: emptyToNull(name) }),
  ...(note !== undefined && { note: emptyToNull(note) }),
});

/** The parameters of a cut besides its asset. */
export const cutParams = {
  script: optional(
    orNull(Type.String()),
    `The text that the speaker meant to say. The best take of each line is kept, where it was recorded. At most ${MAX_SCRIPT_WORDS} words and ${MAX_SCRIPT_CHARACTERS} characters after Unicode normalization (NFKC)`,
  ),
  options: Type.Optional(strictObject(planOptions)),
  keep_edits_of: optional(
    orNull(uuidField("A cut of the same recording")),
    "A cut of the same recording whose edits, corrected texts and chosen takes are applied again. The plan's warnings list edits that could not be applied",
  ),
};

type GivenParams = Omit<Static<TObject<typeof cutParams>>, "options"> & { options?: Static<typeof options> };

/** Returns the options with the defaults of their mode. */
const withDefaults = (given: GivenParams["options"]): CutOptions =>
  given?.mode === MANUAL_MODE ? { ...MANUAL_OPTIONS, ...given } : { ...CUT_MODES[given?.mode ?? "natural"], ...given };

type GivenPacing = GivenParams["options"] & { remove_off_script?: boolean; remove_pauses?: boolean };

const readPacing = ({ remove_off_script = true, remove_pauses = true, ...given }: GivenPacing): PacingOptions => ({
  ...toPacingOptions(withDefaults(given)),
  remove_off_script,
  remove_pauses,
});

/** Returns the parameters of a cut with the defaults of its mode. Throws `AppError` if the script is too long. */
export async function readCutParams(given: GivenParams): Promise<CutStepParams> {
  const script = await runLargeTasksSerially(given.script ?? "", () => checkScript(given.script));
  const keepEditsOf = given.keep_edits_of ?? undefined;
  if (keepEditsOf !== undefined && given.options?.mode === MANUAL_MODE)
    throw invalidField("body.keep_edits_of", "must be missing for a cut by hand", keepEditsOf);
  return { script, options: withDefaults(given.options), ...(keepEditsOf !== undefined && { keepEditsOf }) };
}

/** Returns the script, "" without one. Throws `AppError` `validation_error` if it is too long. */
function checkScript(script: string | null | undefined): string {
  if (!script || script.trim() === "") return "";
  const limit = findScriptLimit(script);
  if (limit) throw invalidField("body.script", limit, null, "Script is too long.");
  return script;
}

export const showCut = async ({ authorship }: Call, cut: CutRow): Promise<Resource<"Cut">> =>
  showRow(SCHEMAS.Cut, cut, await authorship(cut.created_by));

const showCutDetail = async (call: Call, cut: Cut): Promise<Resource<"CutDetail">> => ({
  ...(await showCut(call, cut)),
  plan: cut.plan === null ? null : (JSON.parse(cut.plan) as PlanJson),
});

/** Returns `showCutDetail` with `more` fields as JSON text. The plan is stored as JSON and is not parsed. */
export const showCutDetailJson = async (call: Call, cut: Cut, more: object = {}): Promise<string> =>
  `${JSON.stringify({ ...(await showCut(call, cut)), ...more }).slice(0, -1)},"plan":${cut.plan}}`;

export const cutLoader = createOwnLoader("Cut", "cut_id", findCut);

export const create = route({
  summary: "Plan which parts of an asset to keep, or keep all of it to cut by hand",
  maxBodyBytes: MAX_LARGE_BODY_BYTES,
  example: { asset_id: "01a1fc62-d8c4-75df-a939-e3013b9e8bc0", options: { mode: "natural" } },
  errors: [
    "not_found",
    "asset_processing",
    "asset_payment_required",
    "asset_failed",
    "conflict",
    "insufficient_credits",
  ],
  body: strictObject({
    asset_id: uuidField("The asset to cut"),
    ...cutParams,
    options: Type.Optional(options),
    ...cutLabel,
  }),
  responses: {
    201: respondsWith("CutDetail", "The new cut"),
    200: respondsWith("CutDetail", "The existing cut of an identical request"),
  },
  handle: async (call, { body }) => {
    const { services, principal, url } = call;
    const params = { ...(await readCutParams(body)), ...readCutLabel(body) };
    const result =
      params.options.mode === MANUAL_MODE
        ? await createManualCut(services, { ...toActor(principal), ...params, assetId: body.asset_id })
        : await services.store.write(async (tx) => {
            const asset = requireFound(await findAsset(tx, principal.workspace.id, body.asset_id), "Asset");
            return createCut(services, tx, { ...toActor(principal), ...params, asset });
          });
    if (!result.isNew) return ok(await showCutDetail(call, result.cut));
    services.runner.wake();
    return created(url(`/cuts/${result.cut.id}`), await showCutDetail(call, result.cut));
  },
});

export const list = listRoute({
  summary: "List cuts, newest first",
  filters: {
    asset_id: Type.Optional(uuidField("Only cuts of this asset")),
    state: Type.Optional(oneOf(...CUT_STATES)),
  },
  item: "Cut",
  description: "A page of cuts without their plans; fewer than `limit` if scripts are long",
  read: ({ services, principal }, { filters, after, limit }) =>
    listCuts(services.store.read, principal.workspace.id, {
      assetId: filters.asset_id ?? null,
      state: filters.state ?? null,
      afterId: after?.[0] ?? null,
      limit,
    }),
  show: showCut,
});

export const read = route({
  summary: "Retrieve a cut with its plan",
  responses: { 200: respondsWith("CutDetail", "The cut") },
  load: cutLoader,
  handle: async (call, { resource }) => okJsonText(await showCutDetailJson(call, resource)),
});

export const edit = route({
  summary: "Create an edited cut from your own segments and corrected texts",
  example: {
    segments: [
      { start: 1.3, end: 5.8 },
      { start: 12, end: 16.4 },
    ],
    texts: [{ start: 1.42, end: 2.05, text: "Offcut" }],
  },
  errors: ["conflict"],
  maxBodyBytes: MAX_LARGE_BODY_BYTES,
  body: strictObject({
    segments: editedSegments(1),
    texts: Type.Optional(editedTexts),
    ...cutLabel,
    pacing: optional(
      strictObject({
        ...planOptions,
        remove_off_script: optionalFlag("Removes speech that is not in the script. Default: true"),
        remove_pauses: optionalFlag("Removes pauses. Default: true"),
      }),
      "The options of the plan that the segments were made from. What they remove keeps its reason; without them, it counts as removed by hand",
    ),
    replaces: Type.Optional(
      uuidField(
        "An edited cut of the same recording that this one replaces. It keeps its renders, and is deleted a day later if it has none",
      ),
    ),
    draft_revision: Type.Optional(
      revisionField("The revision of the draft that this edit was made from; 0 without a draft"),
    ),
    keep_draft: Type.Optional(
      Type.Boolean({
        description:
          "Whether the draft of the cut stays, because this edit is not made from it. The edit is set aside: it does not become the newest cut of the recording, unless all are set aside. Default: false",
        errorText: "must be true or false",
      }),
    ),
  }),
  idempotent: true,
  responses: { 201: respondsWith("CutDetail", "The edited cut, completed") },
  load: cutLoader,
  handle: async (call, { body, resource }) => {
    const { name, note } = readCutLabel(body);
    const insertEdit = await prepareEdit(call.services, resource, {
      ...readPlanEdit(body),
      ...(body.pacing && { pacing: readPacing(body.pacing) }),
      name,
      note,
      replaces: body.replaces ?? null,
      draftRevision: body.draft_revision ?? null,
      keepsDraft: body.keep_draft ?? false,
      userId: call.principal.user.id,
    });
    return createOnce(call, async (tx) => {
      const edited = await insertEdit(tx);
      return created(call.url(`/cuts/${edited.id}`), { ...(await showCut(call, edited)), script: "" });
    });
  },
  complete: showEditedCut,
});

/** Adds script and plan to the reply for an edited cut: too large to store for `Idempotency-Key`, and immutable. */
async function showEditedCut(call: Call, { body, ...reply }: Reply): Promise<Reply> {
  const { read } = call.services.store;
  const workspaceId = call.principal.workspace.id;
  const shown = body as Resource<"Cut">;
  const edited = await findCut(read, workspaceId, shown.id);
  if (edited) {
    const { text, headers } = okJsonText(await showCutDetailJson(call, edited));
    return { ...reply, text: text!, headers: { ...reply.headers, ...headers } };
  }
  // It was deleted before the call was repeated.
  const { script = "" } = (await findCut(read, workspaceId, call.params.cut_id!)) ?? {};
  return { ...reply, body: { ...shown, script, plan: null } satisfies Resource<"CutDetail"> };
}

export const remove = route({
  summary: "Delete a cut with its subtitles and renders",
  errors: ["upstream_unavailable"],
  responses: { 204: respondsWithNothing("Deleted") },
  load: cutLoader,
  handle: ({ services }, { resource }) => removeCut(services, resource.id),
});
