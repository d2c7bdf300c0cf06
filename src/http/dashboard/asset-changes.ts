/** Changes of assets: name, tags, note and project, and the cut that is made as soon as an asset can be cut. */
import { Type } from "@sinclair/typebox";
import { requireFound } from "../../domain/errors";
import {
  MAX_ASSET_NAME_CHARACTERS,
  MAX_ASSET_NOTE_CHARACTERS,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
} from "../../domain/field-limits";
import { CUT_MODE_NAMES } from "../../domain/plan";
import {
  clearableText,
  emptyToNull,
  listField,
  oneOf,
  optional,
  orNull,
  strictObject,
  textField,
  uuidField,
  withDescription,
} from "../../domain/schema-parts";
import { findAssetById } from "../../store/assets";
import { findPlannedCut, type PlannedCut } from "../../store/planned-cuts";
import { toActor } from "../../work/access/access";
import { type AssetChange, changeAsset } from "../../work/assets/labels";
import { planCut } from "../../work/cuts/planned-cuts";
import { requireDatabaseSpace } from "../../work/storage/limits";
import { ok } from "../call";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { assetLoader, showAssetDetail } from "../public/assets";
import { cutParams, readCutParams } from "../public/cuts";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

export const update = route({
  summary: "Rename an asset, move it with its outputs to another project, or change its tags and note",
  example: { name: "Interview with Ada", tags: ["interview", "spring"], note: "Second camera has the better audio" },
  errors: ["conflict"],
  body: strictObject({
    name: optional(clearableText(MAX_ASSET_NAME_CHARACTERS), "null or blank: pages show the file name"),
    project_id: Type.Optional(uuidField("A project of the same workspace that is not archived")),
    tags: Type.Optional(
      listField(
        textField(MAX_TAG_CHARACTERS),
        0,
        MAX_TAGS,
        "tags",
        "Replaces all tags. Spaces around them, blank ones and repetitions are dropped",
      ),
    ),
    note: Type.Optional(clearableText(MAX_ASSET_NOTE_CHARACTERS)),
  }),
  responses: { 200: respondsWith("AssetDetail", "The asset") },
  load: assetLoader,
  handle: async (call, { body, resource }) => {
    const { name, note, tags, project_id } = body;
    const change: AssetChange = {};
    if (name !== undefined) change.name = emptyToNull(name?.trim() ?? null);
    if (note !== undefined) change.note = emptyToNull(note);
    if (tags !== undefined) change.tags = [...new Set(tags.map((tag) => tag.trim()).filter(Boolean))];
    if (project_id !== undefined) change.projectId = project_id;
    return ok(await showAssetDetail(call, await changeAsset(call.services, resource, change)));
  },
});

const showPlannedCut = (planned: PlannedCut | null): Resource<"PlannedCut"> => ({
  mode: planned?.mode ?? null,
  script: planned?.script ?? "",
  error_message: planned?.error_message ?? null,
});

export const readPlannedCut = route({
  summary: "Retrieve the cut that starts when an asset is ready to cut",
  responses: { 200: respondsWith("PlannedCut", "The planned cut") },
  load: assetLoader,
  handle: async ({ services }, { resource }) =>
    ok(showPlannedCut(await findPlannedCut(services.store.read, resource.id))),
});

export const updatePlannedCut = route({
  summary: "Set the cut that starts when an asset is ready. Overrides the project's setting",
  example: { mode: "natural", script: "Welcome to the show." },
  errors: ["conflict", "upstream_unavailable"],
  body: strictObject({
    mode: withDescription(orNull(oneOf(...CUT_MODE_NAMES)), "Null: the asset is not cut after the upload"),
    script: cutParams.script,
  }),
  maxBodyBytes: MAX_LARGE_BODY_BYTES,
  responses: { 200: respondsWith("PlannedCut", "The planned cut") },
  load: assetLoader,
  handle: async ({ services, principal }, { body, resource }) => {
    const { script } = await readCutParams({ script: body.script ?? null });
    if (body.mode !== null) requireDatabaseSpace(services);
    const planned = await services.store.write(async (tx) => {
      const asset = requireFound(await findAssetById(tx, resource.id), "Asset");
      return planCut(services, tx, toActor(principal), asset, { mode: body.mode, script });
    });
    return ok(showPlannedCut(planned));
  },
});
