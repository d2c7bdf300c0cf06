/** Renders. */
import { Type } from "@sinclair/typebox";
import { requireFound } from "../../domain/errors";
import { outputRequest } from "../../domain/output-schema";
import { oneOf, orNull, strictObject, uuidField } from "../../domain/schema-parts";
import { RENDER_STATES } from "../../domain/states";
import { findAsset } from "../../store/assets";
import { findCut } from "../../store/cuts";
import { findRender, isOpenRender, listRenders, type Render } from "../../store/renders";
import { readProgress } from "../../store/steps";
import { toActor } from "../../work/access/access";
import { removeRender } from "../../work/assets/deletion";
import { foreignCutError } from "../../work/renders/new-renders";
import { cancelRender, createRender } from "../../work/renders/requests";
import { type Call, created, ok } from "../call";
import { listRoute } from "../list-route";
import { respondsWith, respondsWithNothing } from "../response-docs";
import { createOwnLoader, route } from "../route";
import { type Resource, SCHEMAS, showRow } from "../schemas";

/** The parameters of a render besides its asset. */
export const renderParams = {
  cut_id: Type.Optional(orNull(uuidField("The cut to apply"))),
  output: Type.Optional(outputRequest),
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
      const asset = requireFound(await findAsset(tx, actor.workspaceId, body.asset_id), "Asset");
      const cut = body.cut_id ? await findCut(tx, actor.workspaceId, body.cut_id) : null;
      if (body.cut_id && cut?.asset_id !== asset.id) throw foreignCutError("body.cut_id");
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
    read: ({ services, principal }, { filters, after, limit }) =>
      listRenders(services.store.read, principal.workspace.id, {
        assetId: filters.asset_id ?? null,
        cutId: filters.cut_id ?? null,
        state: filters.state ?? null,
        afterId: after?.[0] ?? null,
        limit,
      }),
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
