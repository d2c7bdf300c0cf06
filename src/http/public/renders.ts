/** Renders. */
import { type TSchema, Type } from "@sinclair/typebox";
import { AppError, requireFound } from "../../domain/errors";
import { MAX_FILE_NAME_CHARACTERS, NOISE_REDUCTIONS, OUTPUT_FORMATS } from "../../domain/render-output";
import { RENDER_STATES } from "../../domain/states";
import { findAsset } from "../../store/assets";
import { findCut } from "../../store/cuts";
import { findRender, isOpenRender, listRenders, type Render } from "../../store/renders";
import { readProgress } from "../../store/steps";
import { toActor } from "../../work/access/access";
import { removeRender } from "../../work/assets/deletion";
import { cancelRender, createRender } from "../../work/renders/requests";
import { type Call, created, ok } from "../call";
import { integerField, nullable, oneOf, strictObject, uuidField, withDescription } from "../fields";
import { listRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { createOwnLoader, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";

/**
 * A field that may be absent or null, with the same meaning, so that clients can send back the `output` of a render.
 */
const optional = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema));
/** ffmpeg's integers have 32 bits. */
const rateTerm = integerField(1, 2_147_483_647);
const anyInteger = (description: string) => optional(Type.Integer({ description, errorText: "must be an integer" }));

const output = strictObject({
  format: optional(withDescription(oneOf(...OUTPUT_FORMATS), "Default: mp4 for video, m4a for audio")),
  resolution: optional(
    Type.String({
      pattern: "^[0-9]{1,5}p$",
      description: "Pixels of the shorter side: an even number from 144p up to the source's. Default: the source's",
      errorText: "must look like 720p",
    }),
  ),
  video_bitrate: anyInteger("Bits per second, from 50000 up to the source's. Default: matches the source"),
  frame_rate: anyInteger("Frames per second, 1 to 120 and at most twice the source's. Default: the source's"),
  exact_frame_rate: optional(
    withDescription(
      strictObject({ num: rateTerm, den: rateTerm }),
      "Frames per second as a fraction, in place of `frame_rate`, within the same bounds. The source's rate keeps the times of its frames",
    ),
  ),
  audio_bitrate: anyInteger("Bits per second, 32000 to 320000. Default: matches the source"),
  audio: optional(
    withDescription(
      strictObject({
        loudness_lufs: optional(
          Type.Number({
            description:
              "Integrated loudness of the output in LUFS, -31 to -9, such as -14 (YouTube), -16 (podcasts) or -23 (EBU R128). The true peak stays below -1 dBTP. Default: as it is",
            errorText: "must be a number",
          }),
        ),
        noise_reduction: optional(
          withDescription(
            oneOf(...NOISE_REDUCTIONS),
            "Reduces noise in speech. Music, where no voice is detected for three seconds, stays as it is. The audio gets 48 kHz. Default: off",
          ),
        ),
        level_speakers: optional(
          Type.Boolean({
            description: "Evens out takes and voices whose levels differ by more than 4 dB. Default: false",
            errorText: "must be true or false",
          }),
        ),
      }),
      "What is done with the audio. Default: nothing",
    ),
  ),
  file_name: optional(
    Type.String({
      maxLength: MAX_FILE_NAME_CHARACTERS,
      description: "Name of the downloaded file without its extension. Default: the source's name",
      errorText: `must be a string of at most ${MAX_FILE_NAME_CHARACTERS} characters`,
    }),
  ),
});

/** The parameters of a render besides its asset. */
export const renderParams = {
  cut_id: optional(uuidField("The cut to apply")),
  output: Type.Optional(output),
};

const showRender = async ({ authorship }: Call, render: Render): Promise<Resource<"Render">> =>
  showRow(SCHEMAS.Render, render, await authorship(render.created_by));

async function showRenderDetail(
  call: Call,
  render: Render,
  { hasLink = true } = {},
): Promise<Resource<"RenderDetail">> {
  const { services } = call;
  const progress = isOpenRender(render)
    ? ((await readProgress(services.store.read, [render.id])).get(render.id) ?? 0)
    : null;
  const isCompleted = render.state === "completed";
  return showRow(SCHEMAS.RenderDetail, render, {
    download_url:
      isCompleted && hasLink
        ? services.links.sign({ kind: "renders", id: render.id, what: "output" }, services.now())
        : null,
    progress: isCompleted ? 1 : progress,
    ...(await call.authorship(render.created_by)),
  });
}

export const renderLoader = createOwnLoader("Render", "render_id", findRender);

export const create = route({
  summary: "Render an asset, with or without a cut, to a file",
  example: { asset_id: "01a1fc62-d8c4-75df-a939-e3013b9e8bc0", output: { format: "mp4", resolution: "720p" } },
  errors: ["not_found", "asset_not_ready", "modifier_not_ready", "conflict", "insufficient_credits"],
  body: strictObject({
    asset_id: uuidField("The source"),
    ...renderParams,
  }),
  responses: {
    201: respondsWith("RenderDetail", "The new render"),
    200: respondsWith("RenderDetail", "The existing render of an identical request"),
  },
  handle: async (call, { body }) => {
    const { services } = call;
    const actor = toActor(call.principal);
    const result = await services.store.write(async (tx) => {
      const asset = requireFound(await findAsset(tx, actor.workspaceId, body.asset_id.toLowerCase()), "Asset");
      const cut = body.cut_id ? await findCut(tx, actor.workspaceId, body.cut_id.toLowerCase()) : null;
      if (body.cut_id && cut?.asset_id !== asset.id) {
        throw new AppError("validation_error", "Cut does not belong to this asset.", {
          fields: [{ field: "body.cut_id", message: "does not belong to this asset" }],
        });
      }
      return createRender(services, tx, { ...actor, asset, cut, output: body.output ?? {} });
    });
    const shown = await showRenderDetail(call, result.render);
    if (!result.isNew) return ok(shown);
    services.runner.wake();
    return created(call.url(`/renders/${result.render.id}`), shown);
  },
});

type RenderListOptions<Name extends "Render" | "RenderDetail"> = {
  summary: string;
  item: Name;
  description: string;
  show(call: Call, render: Render): Promise<Resource<Name>>;
};

const createList = <Name extends "Render" | "RenderDetail">(options: RenderListOptions<Name>) =>
  listRoute({
    ...options,
    filters: {
      asset_id: Type.Optional(uuidField("Only renders of this asset")),
      cut_id: Type.Optional(uuidField("Only renders of this cut")),
      state: Type.Optional(oneOf(...RENDER_STATES)),
    },
    scope: ({ principal }, { filters }) => [
      "renders",
      principal.workspace.id,
      filters.asset_id,
      filters.cut_id,
      filters.state,
    ],
    read: ({ services, principal }, { filters, after, limit }) =>
      listRenders(services.store.read, principal.workspace.id, {
        assetId: filters.asset_id?.toLowerCase() ?? null,
        cutId: filters.cut_id?.toLowerCase() ?? null,
        state: filters.state ?? null,
        afterId: after?.[0] ?? null,
        limit,
      }),
    sortKey: (render: Render): [string] => [render.id],
  });

export const list = createList({
  summary: "List renders, newest first",
  item: "Render",
  description: "A page of renders",
  show: showRender,
});

export const listWithDetails = createList({
  summary: "List renders with details but without download links, newest first",
  item: "RenderDetail",
  description: "A page of renders. Their links are null",
  show: (call, render) => showRenderDetail(call, render, { hasLink: false }),
});

export const read = route({
  summary: "Retrieve a render, with a signed download link if it is completed",
  responses: { 200: respondsWith("RenderDetail", "The render") },
  load: renderLoader,
  handle: async (call, { resource }) => ok(await showRenderDetail(call, resource)),
});

export const cancel = route({
  summary: "Cancel a pending or processing render",
  errors: ["conflict", "upstream_unavailable"],
  responses: { 200: respondsWith("RenderDetail", "The cancelled render") },
  load: renderLoader,
  handle: async (call, { resource }) => {
    const { services, principal } = call;
    return ok(await showRenderDetail(call, await cancelRender(services, principal.workspace.id, resource.id)));
  },
});

export const remove = route({
  summary: "Delete a render and its file",
  errors: ["upstream_unavailable"],
  responses: { 204: respondsWithNothing("Deleted") },
  load: renderLoader,
  handle: ({ services }, { resource }) => removeRender(services, resource),
});
