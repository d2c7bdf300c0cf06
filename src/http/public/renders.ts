/** /v1/renders */
import { type TSchema, Type } from "@sinclair/typebox";
import { AppError } from "../../domain/errors";
import { findAsset } from "../../store/assets";
import { findCut } from "../../store/cuts";
import { toPage } from "../../store/paging";
import { findRender, isOpenRender, listRenders, type Render } from "../../store/renders";
import { readProgress } from "../../store/steps";
import { removeRender } from "../../work/deletion";
import { cancelRender, createRender } from "../../work/render";
import type { Services } from "../../work/services";
import { type Call, created, formatTime, noContent, ok } from "../call";
import { oneOf, pagingParameters, strictObject, uuidField, withDescription } from "../fields";
import { respondsWith, respondsWithNothing, respondsWithPage } from "../response-docs";
import { type Route, route } from "../route";

/** A field that may be left out or null, which is the same, so that the `output` of a render can be sent as it was shown. */
const optional = <S extends TSchema>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()], { errorText: schema.errorText }));
const whole = (unit: string) => optional(Type.Integer({ description: unit, errorText: "must be a whole number" }));

const output = strictObject({
  format: optional(withDescription(oneOf("mp4", "mov", "m4a", "mp3"), "mp4 for video and m4a for audio unless given")),
  resolution: optional(
    Type.String({
      pattern: "^[0-9]{1,5}p$",
      description: "The shorter side in pixels, an even number from 144p to the source's; the source's unless given",
      errorText: "must look like 720p",
    }),
  ),
  video_bitrate: whole("Bits per second, from 50000 to the source's; as the source unless given"),
  frame_rate: whole("Frames per second, 1 to 120 and at most twice the source's; the source's own unless given"),
  audio_bitrate: whole("Bits per second, 32000 to 320000; as the source unless given"),
});

/** A render as lists show it. */
const showRow = (render: Render) => ({
  id: render.id,
  asset_id: render.asset_id,
  cut_id: render.cut_id,
  state: render.state,
  output: render.output,
  size_bytes: render.size_bytes,
  error_code: render.error_code,
  error_message: render.error_message,
  created_at: formatTime(render.created_at),
  started_at: formatTime(render.started_at),
  completed_at: formatTime(render.completed_at),
});

/** The detail, with a signed link to a completed output. */
async function show(services: Services, render: Render) {
  const progress = isOpenRender(render)
    ? ((await readProgress(services.store.read, [render.id])).get(render.id) ?? 0)
    : null;
  const isDone = render.state === "completed";
  return {
    ...showRow(render),
    download_url: isDone
      ? services.links.sign({ kind: "renders", id: render.id, what: "output" }, services.now())
      : null,
    progress: isDone ? 1 : progress,
    strategy: render.strategy,
    encoded_share: render.encoded_share,
    strategy_reasons: render.strategy_reasons,
    warnings: render.warnings,
  };
}

const path = "/renders/:render_id";
const load = (call: Call) => findRender(call.services.store.read, call.user.id, call.params.render_id!);

export const renderRoutes: Route[] = [
  route({
    method: "POST",
    path: "/renders",
    summary: "Render an asset, with or without a cut, to a file",
    example: { asset_id: "01a1fc62-d8c4-75df-a939-e3013b9e8bc0", output: { format: "mp4", resolution: "720p" } },
    errors: ["not_found", "asset_not_ready", "modifier_not_ready", "conflict"],
    body: strictObject({
      asset_id: uuidField("The source"),
      cut_id: Type.Optional(
        Type.Union([uuidField("The cut to apply"), Type.Null()], { errorText: "must be a UUID or null" }),
      ),
      output: Type.Optional(output),
    }),
    responses: {
      201: respondsWith("RenderDetail", "The new render"),
      200: respondsWith("RenderDetail", "The render that an identical request made"),
    },
    handle: async ({ services, user }, { body }) => {
      const result = await services.store.write(async (tx) => {
        const asset = await findAsset(tx, user.id, body.asset_id.toLowerCase());
        if (!asset) throw new AppError("not_found", "There is no such asset.");
        const cut = body.cut_id ? await findCut(tx, user.id, body.cut_id.toLowerCase()) : null;
        if (body.cut_id && cut?.asset_id !== asset.id) {
          throw new AppError("validation_error", "The cut is not a cut of this asset.", {
            fields: [{ field: "body.cut_id", message: "is not a cut of this asset" }],
          });
        }
        return createRender(services, tx, { userId: user.id, asset, cut, output: body.output ?? {} });
      });
      const shown = await show(services, result.render);
      if (!result.isNew) return ok(shown);
      services.runner.wake();
      return created(`/v1/renders/${result.render.id}`, shown);
    },
  }),
  route({
    method: "GET",
    path: "/renders",
    summary: "List renders, the newest first",
    query: strictObject({
      ...pagingParameters(),
      asset_id: Type.Optional(uuidField("Only those of this asset")),
      cut_id: Type.Optional(uuidField("Only those of this cut")),
      state: Type.Optional(oneOf("pending", "processing", "completed", "failed", "cancelled")),
    }),
    responses: { 200: respondsWithPage("Render", "A page of renders") },
    handle: async ({ services, user }, { query }) => {
      const list = `renders ${user.id} ${query.asset_id ?? ""} ${query.cut_id ?? ""} ${query.state ?? ""}`;
      const rows = await listRenders(services.store.read, user.id, {
        assetId: query.asset_id?.toLowerCase() ?? null,
        cutId: query.cut_id?.toLowerCase() ?? null,
        state: query.state ?? null,
        afterId: query.cursor ? String(services.cursors.decode(list, query.cursor)[0]) : null,
        limit: query.limit + 1,
      });
      return ok(toPage(rows, query.limit, showRow, (row) => services.cursors.encode(list, [row.id])));
    },
  }),
  route({
    method: "GET",
    path,
    summary: "Read a render, with a signed link when it is completed",
    responses: { 200: respondsWith("RenderDetail", "The render") },
    load,
    handle: async ({ services }, { resource }) => ok(await show(services, resource)),
  }),
  route({
    method: "POST",
    path: `${path}/cancel`,
    summary: "Cancel a render that has not ended",
    errors: ["conflict"],
    responses: { 200: respondsWith("RenderDetail", "The cancelled render") },
    load,
    handle: async ({ services, user }, { resource }) =>
      ok(await show(services, await cancelRender(services, user.id, resource.id))),
  }),
  route({
    method: "DELETE",
    path,
    summary: "Delete a render and its file",
    responses: { 204: respondsWithNothing("Deleted") },
    load,
    handle: async ({ services }, { resource }) => {
      await removeRender(services, resource);
      return noContent();
    },
  }),
];
