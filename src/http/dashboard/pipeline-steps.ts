/** The steps that a request for a pipeline lists, with the parameters of a cut or a render. */
import { type Static, Type } from "@sinclair/typebox";
import { AppError, type FieldError, invalidField, MAX_FIELD_ERRORS, moveFields } from "../../domain/errors";
import { listField, oneOf, strictObject, uuidField } from "../../domain/schema-parts";
import type { StepRequest } from "../../domain/step-params";
import { cutParams, readCutParams } from "../public/cuts";
import { renderParams } from "../public/renders";
import { validate } from "../validation";

const MAX_STEPS = 10;

const asset_id = Type.Optional(uuidField("If present, the asset of the pipeline"));
const cutStepParams = strictObject({ asset_id, ...cutParams });
const renderStepParams = strictObject({ asset_id, ...renderParams });

export const pipelineSteps = listField(
  strictObject({
    processor_name: oneOf("cut", "render"),
    params: Type.Optional(
      Type.Object(
        {},
        {
          description:
            "The body of POST cuts or POST renders without `asset_id`. A render after a cut applies that cut, and accepts no `cut_id`",
          anyOf: [cutStepParams, renderStepParams],
        },
      ),
    ),
  }),
  1,
  MAX_STEPS,
  "steps",
);

/** Returns the steps with checked parameters. Throws `AppError` `validation_error` with all failing fields. */
export async function readSteps(given: {
  input_asset_id: string;
  steps: Static<typeof pipelineSteps>;
}): Promise<StepRequest[]> {
  const fields: FieldError[] = [];
  const requests: StepRequest[] = [];
  let followsCut = false;
  for (const [n, { processor_name: name, params = {} }] of given.steps.entries()) {
    try {
      requests.push(await readStep(name, params, given.input_asset_id, followsCut));
    } catch (error) {
      const moved = moveFields(error, `body.steps.${n}.params`);
      if (!(moved instanceof AppError) || !moved.details.fields) throw moved;
      fields.push(...moved.details.fields);
    }
    followsCut ||= name === "cut";
  }
  if (fields.length === 0) return requests;
  throw new AppError("validation_error", "Request body has invalid fields.", {
    fields: fields.slice(0, MAX_FIELD_ERRORS),
  });
}

async function readStep(
  name: StepRequest["name"],
  params: unknown,
  assetId: string,
  followsCut: boolean,
): Promise<StepRequest> {
  if (name === "cut") {
    const cut = validate(cutStepParams, params, "body");
    requireAsset(cut.asset_id, assetId);
    return { name, params: await readCutParams(cut) };
  }
  const render = validate(renderStepParams, params, "body");
  requireAsset(render.asset_id, assetId);
  const cutId = render.cut_id ?? null;
  if (cutId !== null && followsCut) throw invalid("cut_id", "is not allowed after a cut step, whose cut is applied");
  return { name, params: { cutId, output: render.output ?? {} } };
}

function requireAsset(given: string | undefined, assetId: string): void {
  if (given !== undefined && given !== assetId) throw invalid("asset_id", "must be the input_asset_id");
}

const invalid = (field: string, message: string): AppError => invalidField(`body.${field}`, message, null);
