/** /v1/cuts */
import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../../domain/errors";
import { CUT_MODES, type CutOptions } from "../../domain/plan";
import { findScriptLimit, MAX_SCRIPT_CHARACTERS, MAX_SCRIPT_WORDS } from "../../domain/planning/scripted/script-limits";
import type { Rational } from "../../domain/time";
import { EXPORT_FORMATS } from "../../domain/timeline";
import { findAsset } from "../../store/assets";
import { type Cut, type CutRow, findCut, listCuts } from "../../store/cuts";
import { toPage } from "../../store/paging";
import { createCut } from "../../work/cut";
import { removeCut } from "../../work/deletion";
import { withIdempotencyKey } from "../../work/idempotency";
import { createExport, createSubtitle, prepareEdit } from "../../work/plan-files";
import { type Call, created, fileDownload, formatTime, noContent, ok, okJsonText } from "../call";
import { oneOf, pagingParameters, strictObject, uuidField, withDescription } from "../fields";
import { MAX_LARGE_BODY_BYTES, runLargeTasksSerially } from "../parse-request";
import { respondsWith, respondsWithFile, respondsWithNothing, respondsWithPage } from "../response-docs";
import { type Route, route } from "../route";

const seconds = (minimum: number, maximum: number, description: string) =>
  Type.Optional(
    Type.Number({ minimum, maximum, description, errorText: `must be a number from ${minimum} to ${maximum}` }),
  );
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const options = strictObject({
  mode: Type.Optional(
    withDescription(
      oneOf("tight", "natural", "loose"),
      "What the other options are unless given; natural unless given",
    ),
  ),
  min_silence_seconds: seconds(0.1, 10, "Shorter pauses stay: tight 0.25, natural 0.5, loose 0.9"),
  padding_before_seconds: seconds(0, 2, "Quiet kept before speech: tight 0.04, natural 0.12, loose 0.25"),
  padding_after_seconds: seconds(0, 2, "Quiet kept after speech: tight 0.06, natural 0.18, loose 0.35"),
  remove_fillers: flag("Whether um and uh go: in tight and natural they do"),
  remove_retakes: flag("Whether all takes of a line but the best go: they do unless told otherwise"),
});

/** The options with the mode's defaults filled in. */
const resolve = (given: Static<typeof options>): CutOptions => ({ ...CUT_MODES[given.mode ?? "natural"], ...given });

function checkedScript(script: string | null | undefined): string {
  if (!script || script.trim() === "") return "";
  const limit = findScriptLimit(script);
  if (limit) {
    throw new AppError("validation_error", "Script is too long.", {
      fields: [{ field: "body.script", message: limit }],
    });
  }
  return script;
}

/** A cut as lists show it. */
const showRow = (cut: CutRow) => ({
  id: cut.id,
  asset_id: cut.asset_id,
  state: cut.state,
  script: cut.script,
  options: cut.options,
  edited_from: cut.edited_from,
  error_code: cut.error_code,
  error_message: cut.error_message,
  created_at: formatTime(cut.created_at),
  started_at: formatTime(cut.started_at),
  completed_at: formatTime(cut.completed_at),
});

/** The cut as JSON. Its plan is stored as the API shows it: megabytes that need not be parsed to be sent. */
const showJson = (cut: Cut): string => `${JSON.stringify(showRow(cut)).slice(0, -1)},"plan":${cut.plan}}`;

const show = (cut: Cut) => ({ ...showRow(cut), plan: cut.plan === null ? null : JSON.parse(cut.plan) });

/** A segment of a plan; of what the API shows in one, only its bounds count. */
const editedSegment = strictObject({
  start: Type.Number({ minimum: 0, errorText: "must be a number of seconds from 0" }),
  end: Type.Number({ exclusiveMinimum: 0, errorText: "must be a number of seconds above 0" }),
  start_frame: Type.Optional(Type.Unknown()),
  end_frame: Type.Optional(Type.Unknown()),
  text: Type.Optional(Type.Unknown()),
  review: Type.Optional(Type.Unknown()),
});

const MAX_SEGMENTS = 20_000;
const segments = Type.Array(editedSegment, {
  minItems: 1,
  maxItems: MAX_SEGMENTS,
  errorText: `must be a list of 1 to ${MAX_SEGMENTS} segments`,
});

/** `25`, `29.97` or `30000/1001` as a fraction. Errors: `validation_error`. */
function readFrameRate(text: string): Rational {
  const [num = 0, den = 1] = text.split("/").map(Number);
  const rate = { num: Math.round(num * 1000), den: Math.round(den * 1000) };
  if (rate.num > 0 && rate.den > 0) return rate;
  throw new AppError("validation_error", "The frame rate cannot be used.", {
    fields: [{ field: "query.frame_rate", message: "must be above 0" }],
  });
}

const path = "/cuts/:cut_id";
const load = (call: Call) => findCut(call.services.store.read, call.user.id, call.params.cut_id!);

export const cutRoutes: Route[] = [
  route({
    method: "POST",
    path: "/cuts",
    summary: "Compute which parts of an asset to keep",
    maxBodyBytes: MAX_LARGE_BODY_BYTES,
    example: { asset_id: "01a1fc62-d8c4-75df-a939-e3013b9e8bc0", options: { mode: "natural" } },
    errors: ["not_found", "asset_processing", "asset_payment_required", "asset_failed"],
    body: strictObject({
      asset_id: uuidField("The asset to cut"),
      script: Type.Optional(
        Type.Union([Type.String(), Type.Null()], {
          description: `What was to be said, at most ${MAX_SCRIPT_WORDS} words and ${MAX_SCRIPT_CHARACTERS} characters, counted after Unicode normalization (NFKC): the best take of each line is kept, where it was recorded`,
          errorText: "must be a text or null",
        }),
      ),
      options: Type.Optional(options),
    }),
    responses: {
      201: respondsWith("CutDetail", "The new cut"),
      200: respondsWith("CutDetail", "The cut that an identical request made"),
    },
    handle: async ({ services, user }, { body }) => {
      const script = await runLargeTasksSerially(body.script ?? "", () => checkedScript(body.script));
      const result = await services.store.write(async (tx) => {
        const asset = await findAsset(tx, user.id, body.asset_id.toLowerCase());
        if (!asset) throw new AppError("not_found", "There is no such asset.");
        return createCut(services, tx, { userId: user.id, asset, script, options: resolve(body.options ?? {}) });
      });
      if (!result.isNew) return ok(show(result.cut));
      services.runner.wake();
      return created(`/v1/cuts/${result.cut.id}`, show(result.cut));
    },
  }),
  route({
    method: "GET",
    path: "/cuts",
    summary: "List cuts, the newest first",
    query: strictObject({
      ...pagingParameters(),
      asset_id: Type.Optional(uuidField("Only those of this asset")),
      state: Type.Optional(oneOf("pending", "processing", "completed", "failed")),
    }),
    responses: {
      200: respondsWithPage("Cut", "A page of cuts without their plans; fewer than `limit` when scripts are long"),
    },
    handle: async ({ services, user }, { query }) => {
      const list = `cuts ${user.id} ${query.asset_id ?? ""} ${query.state ?? ""}`;
      const { rows, hasMore } = await listCuts(services.store.read, user.id, {
        assetId: query.asset_id?.toLowerCase() ?? null,
        state: query.state ?? null,
        afterId: query.cursor ? String(services.cursors.decode(list, query.cursor)[0]) : null,
        limit: query.limit,
      });
      return ok(toPage(rows, query.limit, showRow, (row) => services.cursors.encode(list, [row.id]), hasMore));
    },
  }),
  route({
    method: "GET",
    path,
    summary: "Read a cut with its plan",
    responses: { 200: respondsWith("CutDetail", "The cut") },
    load,
    handle: async (_, { resource }) => okJsonText(showJson(resource)),
  }),
  route({
    method: "POST",
    path: `${path}/edits`,
    summary: "Make a new cut with segments of your own",
    example: {
      segments: [
        { start: 1.3, end: 5.8 },
        { start: 12, end: 16.4 },
      ],
    },
    errors: ["conflict"],
    maxBodyBytes: MAX_LARGE_BODY_BYTES,
    body: strictObject({ segments }),
    idempotent: true,
    responses: { 201: respondsWith("CutDetail", "The edited cut, completed") },
    load,
    handle: async ({ services, idempotency }, { body, resource }) => {
      const prepared = await prepareEdit(services, resource, body.segments);
      return services.store.write((tx) =>
        withIdempotencyKey(tx, idempotency, services.now(), async () => {
          const edited = await prepared(tx);
          const reply = created(`/v1/cuts/${edited.id}`, show(edited));
          return { status: reply.status, body: reply.body, headers: reply.headers ?? {} };
        }),
      );
    },
  }),
  route({
    method: "GET",
    path: `${path}/export`,
    summary: "Export a cut as an editing timeline",
    errors: ["conflict", "unsupported_format", "upstream_unavailable"],
    query: strictObject({
      format: withDescription(
        oneOf(...EXPORT_FORMATS),
        "fcpxml: Final Cut Pro, Resolve; fcp7xml: Premiere, Resolve; edl: CMX 3600; otio: OpenTimelineIO; mlt: Shotcut, Kdenlive; csv; json",
      ),
      layout: Type.Optional(
        withDescription(
          oneOf("tight", "review"),
          "tight: the kept parts end to end (unless given); review: the whole recording, removed parts and other takes as disabled clips",
        ),
      ),
      media_root: Type.Optional(
        Type.String({
          maxLength: 4096,
          description: "Folder of the source on the editor's machine",
          errorText: "must be a text of at most 4096 characters",
        }),
      ),
      frame_rate: Type.Optional(
        Type.String({
          pattern: "^[0-9]{1,6}([./][0-9]{1,6})?$",
          description: "The timeline's, as in 25, 29.97 or 30000/1001; the source's unless given",
          errorText: "must be like 25, 29.97 or 30000/1001",
        }),
      ),
      drop_frame: Type.Optional(
        withDescription(
          oneOf("true", "false"),
          "Drop-frame timecode, at 29.97 and 59.94 only; as the source's unless given",
        ),
      ),
    }),
    responses: { 200: respondsWithFile("The file") },
    load,
    handle: async ({ services }, { query, resource }) =>
      fileDownload(
        await createExport(services, resource, {
          format: query.format,
          layout: query.layout ?? "tight",
          mediaRoot: query.media_root || null,
          frameRate: query.frame_rate === undefined ? null : readFrameRate(query.frame_rate),
          dropFrame: query.drop_frame === undefined ? null : query.drop_frame === "true",
        }),
      ),
  }),
  route({
    method: "GET",
    path: `${path}/subtitle`,
    summary: "The subtitle of a cut",
    errors: ["conflict", "unsupported_format", "upstream_unavailable"],
    query: strictObject({
      format: oneOf("srt", "vtt"),
      timeline: Type.Optional(
        withDescription(oneOf("cut", "source"), "Times as in the rendered cut (unless given) or as in the recording"),
      ),
    }),
    responses: { 200: respondsWithFile("The file") },
    load,
    handle: async ({ services }, { query, resource }) =>
      fileDownload(
        await createSubtitle(services, resource, { format: query.format, timeline: query.timeline ?? "cut" }),
      ),
  }),
  route({
    method: "DELETE",
    path,
    summary: "Delete a cut, its subtitle and its renders",
    responses: { 204: respondsWithNothing("Deleted") },
    load,
    handle: async ({ services }, { resource }) => {
      await removeCut(services, resource.id);
      return noContent();
    },
  }),
];
