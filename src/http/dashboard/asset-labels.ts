/** Changes of assets: name, tags, note and project. */
import { Type } from "@sinclair/typebox";
import {
  MAX_ASSET_NAME_CHARACTERS,
  MAX_ASSET_NOTE_CHARACTERS,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
} from "../../domain/field-limits";
import { type AssetChange, changeAsset } from "../../work/assets/labels";
import { ok } from "../call";
import { clearableText, emptyToNull, strictObject, textField, uuidField, withDescription } from "../fields";
import { assetLoader, showAssetDetail } from "../public/assets";
import { respondsWith } from "../response-docs";
import { route } from "../route";

export const update = route({
  summary: "Rename an asset, move it with its outputs to another project, or change its tags and note",
  example: { name: "Interview with Ada", tags: ["interview", "spring"], note: "Second camera has the better audio" },
  errors: ["conflict"],
  body: strictObject({
    name: Type.Optional(
      withDescription(clearableText(MAX_ASSET_NAME_CHARACTERS), "null or blank: pages show the file name"),
    ),
    project_id: Type.Optional(uuidField("A project of the same workspace that is not archived")),
    tags: Type.Optional(
      Type.Array(textField(MAX_TAG_CHARACTERS), {
        maxItems: MAX_TAGS,
        description: "Replaces all tags. Spaces around them, blank ones and repetitions are dropped",
        errorText: `must be a list of at most ${MAX_TAGS} tags`,
      }),
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
    if (project_id !== undefined) change.projectId = project_id.toLowerCase();
    return ok(await showAssetDetail(call, await changeAsset(call.services, resource, change)));
  },
});
