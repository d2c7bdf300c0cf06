/** Timeline exports: a cut as a file for editing programs. Pure. Verified against the specifications only. */
import type { PlanJson } from "../plan-json";
import { buildTimeline, removeExtension, type TimelineOptions, type TimelineSource } from "./build-timeline";
import { formatCsv } from "./csv";
import { findEdlObstacle, formatEdl } from "./edl";
import { formatFcp7Xml } from "./fcp7xml";
import { formatFcpxml } from "./fcpxml";
import { formatJson } from "./json";
import { formatMlt } from "./mlt";
import type { ExportLayout, Timeline } from "./model";
import { formatOtio } from "./otio";

export type { ExportLayout } from "./model";

export const EXPORT_FORMATS = ["fcpxml", "fcp7xml", "edl", "otio", "mlt", "csv", "json"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export type ExportOptions = TimelineOptions & { format: ExportFormat };

/** The file with warnings for the user, or a sentence that says why the export is impossible (`unsupported_format`). */
export type ExportResult =
  | { ok: true; filename: string; contentType: string; body: string; warnings: string[] }
  | { ok: false; reason: string };

type ExportWriter = { extension: string; contentType: string; format(timeline: Timeline, plan: PlanJson): string };

const WRITERS: Record<ExportFormat, ExportWriter> = {
  fcpxml: { extension: "fcpxml", contentType: "application/xml; charset=utf-8", format: formatFcpxml },
  fcp7xml: { extension: "xml", contentType: "application/xml; charset=utf-8", format: formatFcp7Xml },
  edl: { extension: "edl", contentType: "text/plain; charset=utf-8", format: formatEdl },
  otio: { extension: "otio", contentType: "application/json", format: formatOtio },
  mlt: { extension: "mlt", contentType: "application/xml; charset=utf-8", format: formatMlt },
  csv: { extension: "csv", contentType: "text/csv; charset=utf-8", format: formatCsv },
  json: { extension: "json", contentType: "application/json", format: formatJson },
};

/** Returns the extension of an export's file, without the dot. */
export const getExportExtension = (format: ExportFormat): string => WRITERS[format].extension;

/** Exports a cut as a timeline, exact to the frame in every format. Each format's module describes its limitations. */
export function exportTimeline(input: TimelineSource, options: ExportOptions): ExportResult {
  const timeline = buildTimeline(input, options);
  if (typeof timeline === "string") return { ok: false, reason: timeline };
  const obstacle = options.format === "edl" ? findEdlObstacle(timeline) : null;
  if (obstacle !== null) return { ok: false, reason: obstacle };
  const { extension, contentType, format } = WRITERS[options.format];
  return {
    ok: true,
    filename: formatFilename(input.name, options.layout, extension),
    contentType,
    body: format(timeline, input.plan),
    warnings: timeline.warnings,
  };
}

const MAX_NAME_CHARACTERS = 100;

/**
 * Formats the name of the export: `talk.mp4` becomes `talk.cut.edl`, or `talk.review.edl` in the review layout.
 * Characters that a file system may reject become `_`.
 */
function formatFilename(name: string, layout: ExportLayout, extension: string): string {
  const safe = removeExtension(name)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069/\\:*?"<>|]/gu, "_")
    .replace(/^\.+/, "_");
  const short = [...safe].slice(0, MAX_NAME_CHARACTERS).join("").trim() || "cut";
  return `${short}.${layout === "tight" ? "cut" : "review"}.${extension}`;
}
