/** The types of API resources, as the tests read them. */
import type { PlanJson } from "../../src/domain/plan-json";

export type ErrorBody = { error: { code: string; message: string; fields?: { field: string; message: string }[] } };
export type Paged<T> = { items: T[]; limit: number; next_cursor: string | null };

export type Project = {
  id: string;
  name: string;
  state: string;
  archived_at: string | null;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
};

export type Asset = {
  id: string;
  project_id: string;
  kind: string;
  type: string | null;
  state: string;
  extension: string | null;
  size_bytes: number | null;
  content_type: string | null;
  duration_seconds: string | null;
  language: string | null;
  external_id: string | null;
  name?: string | null;
  tags?: string[];
  note?: string | null;
  error_code: string | null;
  error_message: string | null;
  created_at: string;
  upload_url: string | null;
};

export type AssetDetail = Asset & {
  filename: string | null;
  download_url: string | null;
  cuttable: boolean;
  progress: number | null;
  width: number | null;
  height: number | null;
  frame_rate: { num: number; den: number } | null;
  video_codec: string | null;
  audio_codec: string | null;
  audio_tracks: number | null;
  has_transcript: boolean;
  poster_url: string | null;
  filmstrip_url: string | null;
  preview_url: string | null;
  waveform_url: string | null;
  transcript_url: string | null;
};

export type Cut = {
  id: string;
  asset_id: string;
  state: string;
  script: string;
  options: Record<string, unknown>;
  error_code: string | null;
  error_message: string | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  plan: PlanJson | null;
};

export type Render = {
  id: string;
  asset_id: string;
  cut_id: string | null;
  state: string;
  output: Record<string, unknown>;
  size_bytes: number | null;
  error_code: string | null;
  error_message: string | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  download_url: string | null;
  progress: number | null;
  strategy: string | null;
  encoded_share: number | null;
  strategy_reasons: string[];
  warnings: string[];
};

export type LedgerEntry = {
  id: string;
  type: string;
  delta: number;
  created_at: string;
  asset_id: string | null;
  payment_invoice_id: string | null;
};

/** A page of a list that only the dashboard family has. */
export type OffsetPage<T> = { items: T[]; total: number; limit: number; offset: number };

export type Step = {
  id: string;
  step_order: number;
  processor_name: string;
  state: string;
  credits_cost: number;
  input_asset_id: string | null;
  input_asset_deleted: boolean;
  output_asset_id: string | null;
  output_asset_deleted: boolean;
  cut_id: string | null;
  render_id: string | null;
  progress: number | null;
  error_code: string | null;
  error_message: string | null;
  started_at: string | null;
  finished_at: string | null;
};

export type Pipeline = {
  id: string;
  state: string;
  total_credits_reserved: number;
  total_credits_consumed: number;
  input_asset_id: string | null;
  input_asset_name: string | null;
  input_asset_deleted: boolean;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  steps: Step[];
};
