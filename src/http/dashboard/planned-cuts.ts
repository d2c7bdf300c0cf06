/** The cut that is made of an asset as soon as it can be cut. */
import { requireFound } from "../../domain/errors";
import { CUT_MODE_NAMES } from "../../domain/plan";
import { findAssetById } from "../../store/assets";
import { findPlannedCut, type PlannedCut } from "../../store/planned-cuts";
import { toActor } from "../../work/access/access";
import { planCut } from "../../work/cuts/planned-cuts";
import { requireDatabaseSpace } from "../../work/storage/limits";
import { ok } from "../call";
import { nullable, oneOf, strictObject, withDescription } from "../fields";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { assetLoader } from "../public/assets";
import { cutParams, readCutParams } from "../public/cuts";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";

const show = (planned: PlannedCut | null): Resource<"PlannedCut"> => ({
  mode: planned?.mode ?? null,
  script: planned?.script ?? "",
  error_message: planned?.error_message ?? null,
});

export const read = route({
  summary: "Retrieve the cut that starts when an asset is ready to cut",
  responses: { 200: respondsWith("PlannedCut", "The planned cut") },
  load: assetLoader,
  handle: async ({ services }, { resource }) => ok(show(await findPlannedCut(services.store.read, resource.id))),
});

export const update = route({
  summary: "Set the cut that starts when an asset is ready. Overrides the project's setting",
  example: { mode: "natural", script: "Welcome to the show." },
  errors: ["conflict", "upstream_unavailable"],
  body: strictObject({
    mode: withDescription(nullable(oneOf(...CUT_MODE_NAMES)), "Null: the asset is not cut after the upload"),
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
    return ok(show(planned));
  },
});
