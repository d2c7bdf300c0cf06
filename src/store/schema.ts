/**
 * The tables of projects, assets, the work on them, and credits. Times are in milliseconds since 1970, durations in
 * ticks (microseconds). JSON columns contain plain data.
 */
import { sql } from "drizzle-orm";
import { index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { JOB_NAMES } from "../domain/jobs";
import type { MediaInfo, ResolvedOutput } from "../domain/media";
import { CUT_MODE_NAMES, type CutOptions } from "../domain/plan";
import type { EditedSegment } from "../domain/plan-edit";
import type { EditedText } from "../domain/plan-texts";
import type { OutputJson } from "../domain/render-output";
import type { DetectedLanguage } from "../domain/speech";
import {
  ASSET_KINDS,
  ASSET_STATES,
  ASSET_TYPES,
  CUT_STATES,
  LEDGER_TYPES,
  PAYMENT_STATES,
  PROJECT_STATES,
  RENDER_STATES,
  RENDER_STRATEGIES,
  STEP_STATES,
} from "../domain/states";
import type { StoredStepParams } from "../domain/step-params";
import { formerUser, workspaces } from "./schema-accounts";
import { belongsTo, flag, id, idOf, packedBytes, time } from "./schema-columns";

export const projects = sqliteTable(
  "projects",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    name: text().notNull(),
    state: text({ enum: PROJECT_STATES }).notNull(),
    archived_at: time(),
    /** Mode in which new recordings are cut; null: they are not. The language applies to uploads without one. */
    cut_mode: text({ enum: CUT_MODE_NAMES }),
    cut_language: text(),
    created_by: formerUser(),
    created_at: time().notNull(),
    updated_at: time().notNull(),
    last_activity_at: time().notNull(),
  },
  (t) => [
    index("projects_by_activity").on(t.workspace_id, t.state, t.last_activity_at, t.id),
    index("projects_by_creator").on(t.created_by),
  ],
);

export const assets = sqliteTable(
  "assets",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    project_id: belongsTo(() => projects.id),
    kind: text({ enum: ASSET_KINDS }).notNull(),
    type: text({ enum: ASSET_TYPES }),
    state: text({ enum: ASSET_STATES }).notNull(),
    extension: text(),
    content_type: text(),
    /** The ffmpeg demuxer for the format that was detected from the bytes. */
    demuxer: text(),
    /** The declared length of the upload, which becomes the file's size; 0 while it is deferred. */
    upload_length: integer().notNull(),
    /** Whether the client has yet to declare the length of the upload. */
    is_length_deferred: flag(),
    /** When the signed PUT link expires; null for a TUS upload and once the file has arrived. */
    put_until: time(),
    /** The cut or render whose output this asset is. The asset has no file of its own and is deleted with it. */
    cut_id: text(),
    render_id: text(),
    /** When the last byte arrived or the upload was created. The upload expires a fixed time later. */
    upload_active_at: time().notNull(),
    /** The client's `Upload-Metadata` header, returned by HEAD. */
    upload_metadata: text(),
    filename: text(),
    external_id: text(),
    /** The name, tags and note that users gave it. Without a name, pages show `filename`. */
    name: text(),
    tags: text({ mode: "json" }).$type<string[]>().notNull().default(sql`'[]'`),
    note: text(),
    language: text(),
    /** Null before the audio is prepared, with too little speech, and for recordings of older versions. */
    language_detected: text({ mode: "json" }).$type<DetectedLanguage>(),
    duration: integer(),
    info: text({ mode: "json" }).$type<MediaInfo>(),
    /** Whether the audio part of the preparation is complete. `has_transcript` says whether it yielded a transcript. */
    audio_prepared: flag(),
    video_prepared: flag(),
    has_transcript: flag(),
    has_poster: flag(),
    has_preview: flag(),
    has_waveform: flag(),
    /** Price of the asset in credits; null until its duration is known. */
    charge: integer(),
    /** Size of the files that preparation derived from the source; after a failure, until they are removed. */
    derived_bytes: integer().notNull().default(0),
    payment: text({ enum: PAYMENT_STATES }).notNull(),
    error_code: text(),
    error_message: text(),
    created_by: formerUser(),
    created_at: time().notNull(),
    prepared_at: time(),
  },
  (t) => [
    index("assets_by_workspace").on(t.workspace_id, t.kind, t.id),
    index("assets_by_project").on(t.project_id, t.kind, t.id),
    index("assets_by_state").on(t.workspace_id, t.state, t.id),
    // Covering index for the sum of a workspace's storage. Outputs have no file of their own.
    index("assets_storage")
      .on(t.workspace_id, t.upload_length, t.derived_bytes)
      .where(sql`cut_id is null and render_id is null`),
    index("assets_by_creator").on(t.created_by),
    uniqueIndex("assets_by_cut").on(t.cut_id).where(sql`cut_id is not null`),
    uniqueIndex("assets_by_render").on(t.render_id).where(sql`render_id is not null`),
  ],
);

export const pipelines = sqliteTable(
  "pipelines",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    state: text({ enum: STEP_STATES }).notNull(),
    /** Kept after the asset is deleted. */
    input_asset_id: text(),
    input_asset_deleted: flag(),
    /** Whether it was requested as a list of steps, whose outputs become assets. Others are single jobs. */
    is_chain: flag(),
    /** Whether it creates a preview, started by the server. Only administrators see it. */
    is_hidden: flag(),
    total_credits_reserved: integer().notNull().default(0),
    total_credits_consumed: integer().notNull().default(0),
    created_by: formerUser(),
    created_at: time().notNull(),
    started_at: time(),
    finished_at: time(),
  },
  (t) => [
    index("pipelines_by_workspace").on(t.workspace_id, t.id),
    // Each open page lists the few running or waiting ones, regardless of how many have ended.
    index("pipelines_open").on(t.workspace_id, t.id).where(sql`finished_at is null`),
    index("pipelines_by_asset").on(t.input_asset_id),
    index("pipelines_by_creator").on(t.created_by),
  ],
);

/** Steps of pipelines. A step is a job: its row is the authoritative state, and a runner only executes it. */
export const steps = sqliteTable(
  "steps",
  {
    id: id(),
    pipeline_id: belongsTo(() => pipelines.id),
    workspace_id: text().notNull(),
    step_order: integer().notNull(),
    processor_name: text({ enum: JOB_NAMES }).notNull(),
    state: text({ enum: STEP_STATES }).notNull(),
    // The client's request. Null for the step of a pipeline that is not a chain, which has its subject from the start;
    // for a completed step; for one whose asset was deleted; and for one whose script was deleted when the pipeline was
    // cancelled.
    params: text({ mode: "json" }).$type<StoredStepParams>(),
    /** The asset, cut or render that the step works on; null until the previous steps have completed. */
    subject_id: text(),
    input_asset_id: text(),
    input_asset_deleted: flag(),
    output_asset_id: text(),
    output_asset_deleted: flag(),
    credits_cost: integer().notNull().default(0),
    /** Why the step failed, or could not start, in which case it has no subject. */
    error_code: text(),
    error_message: text(),
    /** Number of starts so far. A lease names the step's runner, and expires when the heartbeat stops. */
    attempts: integer().notNull().default(0),
    /** Number of starts that ended with an error. The others were interrupted by a shutdown or a crash. */
    failures: integer().notNull().default(0),
    /** Number of starts that were interrupted by an unclean exit of the server. */
    unclean_starts: integer().notNull().default(0),
    /** Number of starts that ended because the kernel killed the job's child process. */
    kernel_kills: integer().notNull().default(0),
    /** Null until the previous steps have completed. */
    run_after: time(),
    /** When a runner last claimed or returned the step. The workspace that was served longest ago is next. */
    served_at: time(),
    lease_owner: text(),
    lease_until: time(),
    progress: real(),
    created_at: time().notNull(),
    started_at: time(),
    finished_at: time(),
  },
  (t) => [
    index("steps_to_run").on(t.state, t.processor_name, t.run_after),
    index("steps_by_pipeline").on(t.pipeline_id, t.step_order),
    index("steps_by_subject").on(t.subject_id),
    index("steps_by_workspace").on(t.workspace_id, t.processor_name, t.served_at),
    // Pending steps whose turn has come: the queue is read by workspace, regardless of its length.
    index("steps_waiting")
      .on(t.processor_name, t.workspace_id, t.run_after, t.id)
      .where(sql`state = 'pending' and run_after is not null`),
    index("steps_by_input").on(t.input_asset_id),
    index("steps_by_output").on(t.output_asset_id).where(sql`output_asset_id is not null`),
    // The status page, which every user can open, counts the jobs that ended within the last 24 hours.
    index("steps_by_end").on(t.finished_at, t.state).where(sql`finished_at is not null`),
  ],
);

export const cuts = sqliteTable(
  "cuts",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    asset_id: belongsTo(() => assets.id),
    state: text({ enum: CUT_STATES }).notNull(),
    script: text().notNull(),
    options: text({ mode: "json" }).$type<CutOptions>().notNull(),
    /** Hash of asset, script and options, equal for identical requests. Null for an edited cut. */
    request_hash: text(),
    edited_from: text(),
    /** The cut whose edits are applied again to the plan. */
    keep_edits_of: text(),
    name: text(),
    note: text(),
    /** Whether it was saved beside the draft of the cut that it was made from. Other cuts are opened before it. */
    is_set_aside: flag(),
    /** The edited cut that was saved in its place. A superseded cut is not listed, and is deleted when unused. */
    superseded_by: text(),
    superseded_at: time(),
    /** The revision of the last draft that was deleted; 0 without one. Revisions of later drafts continue from it. */
    ended_draft_revision: integer().notNull().default(0),
    /** Review items that an edited cut has from the cut it was made from, as JSON text. Null: the items of its plan. */
    review_items: text(),
    /** The plan as JSON text in the API's form; null until completed. */
    plan: text(),
    /** Packed data from which the plan was assembled. Null for empty or damaged plans and those of older versions. */
    basis: packedBytes(),
    error_code: text(),
    error_message: text(),
    created_by: formerUser(),
    created_at: time().notNull(),
    started_at: time(),
    completed_at: time(),
  },
  (t) => [
    index("cuts_by_workspace").on(t.workspace_id, t.id),
    index("cuts_by_asset").on(t.asset_id, t.id),
    index("cuts_by_request").on(t.request_hash),
    index("cuts_superseded").on(t.superseded_at).where(sql`superseded_at is not null`),
    // Otherwise, deleting an account would read the plans of all cuts.
    index("cuts_by_creator").on(t.created_by),
  ],
);

/** The unsaved edits of a cut, at most one row per cut. */
export const drafts = sqliteTable(
  "drafts",
  {
    cut_id: idOf(() => cuts.id),
    workspace_id: text().notNull(),
    /** Starts at 1 and increases with each change, also when the draft is deleted and made again. */
    revision: integer().notNull(),
    segments: text({ mode: "json" }).$type<EditedSegment[]>().notNull(),
    texts: text({ mode: "json" }).$type<EditedText[]>().notNull(),
    updated_by: formerUser(),
    updated_at: time().notNull(),
  },
  (t) => [index("drafts_by_user").on(t.updated_by)],
);

export const renders = sqliteTable(
  "renders",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    asset_id: belongsTo(() => assets.id),
    cut_id: text().references(() => cuts.id, { onDelete: "cascade" }),
    state: text({ enum: RENDER_STATES }).notNull(),
    /** The output in the API's form, and resolved for the renderer. */
    output: text({ mode: "json" }).$type<OutputJson>().notNull(),
    resolved: text({ mode: "json" }).$type<ResolvedOutput>().notNull(),
    request_hash: text().notNull(),
    size_bytes: integer(),
    strategy: text({ enum: RENDER_STRATEGIES }),
    encoded_share: real(),
    /** The ffmpeg and the encoder that made it; null if there were several, and for renders of older versions. */
    made_with: text(),
    strategy_reasons: text({ mode: "json" }).$type<string[]>().notNull().default(sql`'[]'`),
    warnings: text({ mode: "json" }).$type<string[]>().notNull().default(sql`'[]'`),
    error_code: text(),
    error_message: text(),
    created_by: formerUser(),
    created_at: time().notNull(),
    started_at: time(),
    completed_at: time(),
  },
  (t) => [
    index("renders_by_workspace").on(t.workspace_id, t.id),
    index("renders_by_asset").on(t.asset_id, t.id),
    index("renders_by_cut").on(t.cut_id, t.id),
    index("renders_by_request").on(t.request_hash),
    index("renders_storage").on(t.workspace_id, t.size_bytes),
    index("renders_by_creator").on(t.created_by),
  ],
);

export const ledger = sqliteTable(
  "ledger",
  {
    id: id(),
    /** No foreign key: entries outlive their workspace under a random ID. */
    workspace_id: text().notNull(),
    type: text({ enum: LEDGER_TYPES }).notNull(),
    delta: integer().notNull(),
    asset_id: text(),
    step_id: text(),
    payment_invoice_id: text(),
    created_at: time().notNull(),
  },
  (t) => [
    index("ledger_by_workspace").on(t.workspace_id, t.id),
    uniqueIndex("ledger_one_step_charge").on(t.step_id).where(sql`type = 'consume_step'`),
    uniqueIndex("ledger_one_topup").on(t.payment_invoice_id).where(sql`type = 'topup'`),
    index("ledger_by_invoice").on(t.payment_invoice_id).where(sql`payment_invoice_id is not null`),
    // An asset is charged at most once and refunded at most once.
    uniqueIndex("ledger_one_charge").on(t.asset_id).where(sql`type = 'consume_asset'`),
    uniqueIndex("ledger_one_refund").on(t.asset_id).where(sql`type = 'refund'`),
  ],
);

export const holds = sqliteTable(
  "holds",
  {
    id: id(),
    workspace_id: belongsTo(() => workspaces.id),
    pipeline_id: text().notNull(),
    asset_id: text(),
    amount: integer().notNull(),
    created_at: time().notNull(),
  },
  (t) => [
    index("holds_by_workspace").on(t.workspace_id),
    uniqueIndex("holds_by_asset").on(t.asset_id),
    // One hold covers the prices of all steps of a pipeline.
    uniqueIndex("holds_of_steps").on(t.pipeline_id).where(sql`asset_id is null`),
  ],
);
