/** Exports of several recordings as one archive: a request, its state, and the download. */
import { Type } from "@sinclair/typebox";
import { conflict } from "../../domain/errors";
import { EXPORT_PARTS, MAX_EXPORT_ASSETS } from "../../domain/export-parts";
import { listField, oneOf, strictObject, uuidField } from "../../domain/schema-parts";
import type { BatchExport } from "../../work/exports/batch-exports";
import { writeBatch } from "../../work/exports/write-batch";
import { created, createOnce, noContent, ok, zipDownload } from "../call";
import { respondsWith, respondsWithFile, respondsWithNothing } from "../response-docs";
import { type ResourceLoader, route } from "../route";
import type { Resource } from "../schemas";
import { mediaQuery, mediaRoute } from "./asset-media";

const load: ResourceLoader<BatchExport> = {
  name: "Export",
  find: async ({ services, principal, params }) =>
    services.batchExports.find(principal.workspace.id, params.export_id!),
};

const loadOwn: ResourceLoader<BatchExport> = {
  name: "Export",
  find: async ({ services, principal, params }) =>
    services.batchExports.findOwn(principal.workspace.id, principal.user.id, params.export_id!),
};

/** An export is a download. It stores nothing. */
const exportAccess = { viewersToo: true };

const show = ({ id, state, assetIds, done, problems }: BatchExport): Resource<"BatchExport"> => ({
  id,
  state,
  total: assetIds.length,
  done,
  problems,
});

export const create = route({
  summary: "Request files of the newest cuts of several assets as one ZIP archive, which can be downloaded for an hour",
  access: exportAccess,
  example: { asset_ids: ["01a1fc62-d879-7691-a33f-32242f9d1701"], parts: ["fcpxml", "srt"] },
  body: strictObject({
    asset_ids: listField(uuidField("An asset of the workspace"), 1, MAX_EXPORT_ASSETS, "IDs"),
    parts: Type.Array(oneOf(...EXPORT_PARTS), {
      minItems: 1,
      maxItems: EXPORT_PARTS.length,
      description: "The files of each asset; `render`: the newest completed render of its newest cut",
      errorText: "must be a list of files",
    }),
  }),
  errors: ["conflict"],
  idempotent: true,
  responses: { 201: respondsWith("BatchExport", "The export") },
  handle: (call, { body }) =>
    createOnce(call, async () => {
      const { workspace, user } = call.principal;
      const one = call.services.batchExports.create({
        workspaceId: workspace.id,
        userId: user.id,
        assetIds: [...new Set(body.asset_ids.map((id) => id.toLowerCase()))],
        parts: [...new Set(body.parts)],
      });
      return created(call.url(`/exports/${one.id}`), show(one));
    }),
  complete: ({ services, principal }, reply) => {
    // The stored reply to a repeated call outlives the export.
    const { id } = reply.body as Resource<"BatchExport">;
    if (services.batchExports.find(principal.workspace.id, id) === null)
      throw conflict("The export of this Idempotency-Key has expired. Send a new key.");
    return reply;
  },
});

export const read = route({
  summary: "Retrieve the state of an export",
  access: mediaRoute.access,
  responses: { 200: respondsWith("BatchExport", "The export") },
  load,
  handle: async (_, { resource }) => ok(show(resource)),
});

export const download = route({
  summary: "Download the archive of an export: a folder for each asset, and Problems.txt if something is missing",
  access: mediaRoute.access,
  errors: ["conflict"],
  query: mediaQuery,
  responses: { 200: respondsWithFile("The archive") },
  load,
  handle: async ({ services, log, request }, { resource }) => {
    // A HEAD request does not read the archive.
    if (request.method === "HEAD") return { status: 200, headers: { "Content-Type": "application/zip" } };
    const stopped = services.batchExports.start(resource);
    return zipDownload("Offcut export.zip", stopped, async (output, signal) => {
      try {
        await writeBatch(services, resource, output, signal);
        services.batchExports.end(resource, "completed");
      } catch (error) {
        services.batchExports.end(resource, "failed");
        if (!signal.aborted) log.error("export.failed", { export: resource.id, error });
        throw error;
      }
    });
  },
});

export const remove = route({
  summary: "Cancel an export of your own. Its download ends",
  access: exportAccess,
  responses: { 204: respondsWithNothing("Cancelled") },
  load: loadOwn,
  handle: async ({ services }, { resource }) => {
    services.batchExports.remove(resource);
    return noContent();
  },
});
