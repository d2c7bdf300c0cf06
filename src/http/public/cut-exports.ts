/** Files made from a completed cut: editing timelines, subtitles and texts. */

import { Type } from "@sinclair/typebox";
import { invalidField } from "../../domain/errors";
import { MAX_MEDIA_ROOT_CHARACTERS } from "../../domain/field-limits";
import { limitedText, oneOf, optional, strictObject, withDescription } from "../../domain/schema-parts";
import type { Rational } from "../../domain/time";
import { EXPORT_FORMATS, type ExportFormat } from "../../domain/timeline";
import { TRANSCRIPT_FORMATS } from "../../domain/transcript-text";
import { createExport, createSubtitle, createTranscriptFile } from "../../work/cuts/plan-files";
import { fileDownload } from "../call";
import { respondsWithFile } from "../response-docs";
import { route } from "../route";
import { cutLoader } from "./cuts";

/** The programs or the standard that a format is for, as its description in the OpenAPI document continues. */
const FORMAT_TARGETS: Record<ExportFormat, string> = {
  fcpxml: ": Final Cut Pro, Resolve",
  fcp7xml: ": Premiere, Resolve",
  edl: ": CMX 3600",
  otio: ": OpenTimelineIO",
  mlt: ": Shotcut, Kdenlive",
  csv: "",
  json: "",
};

/** Parses `25`, `29.97` or `30000/1001` as a fraction. Throws `AppError` `validation_error`. */
function parseFrameRate(text: string): Rational {
  const [num = 0, den = 1] = text.split("/").map(Number);
  const rate = { num: Math.round(num * 1000), den: Math.round(den * 1000) };
  if (rate.num > 0 && rate.den > 0) return rate;
  throw invalidField("query.frame_rate", "must be above 0", null, "Frame rate must be above 0.");
}

export const exportTimeline = route({
  summary: "Export a cut as an editing timeline",
  errors: ["conflict", "unsupported_format", "upstream_unavailable"],
  query: strictObject({
    format: withDescription(
      oneOf(...EXPORT_FORMATS),
      EXPORT_FORMATS.map((format) => `${format}${FORMAT_TARGETS[format]}`).join("; "),
    ),
    layout: optional(
      oneOf("tight", "review"),
      "tight (default): the kept segments back to back; review: the whole recording with removed spans and other takes as disabled clips",
    ),
    media_root: Type.Optional(limitedText(MAX_MEDIA_ROOT_CHARACTERS, "Folder of the source on the editor's machine")),
    frame_rate: Type.Optional(
      Type.String({
        pattern: "^[0-9]{1,6}([./][0-9]{1,6})?$",
        description: "Frame rate of the timeline, such as 25, 29.97 or 30000/1001. Default: the source's",
        errorText: "must be like 25, 29.97 or 30000/1001",
      }),
    ),
    drop_frame: optional(
      oneOf("true", "false"),
      "Drop-frame timecode, for 29.97 and 59.94 only. Default: the source's",
    ),
  }),
  responses: { 200: respondsWithFile("The timeline") },
  load: cutLoader,
  handle: async ({ services }, { query, resource }) =>
    fileDownload(
      await createExport(services, resource, {
        format: query.format,
        layout: query.layout ?? "tight",
        mediaRoot: query.media_root || null,
        frameRate: query.frame_rate === undefined ? null : parseFrameRate(query.frame_rate),
        dropFrame: query.drop_frame === undefined ? null : query.drop_frame === "true",
      }),
    ),
});

export const readSubtitle = route({
  summary: "Export the subtitles of a cut",
  errors: ["conflict", "unsupported_format", "upstream_unavailable"],
  query: strictObject({
    format: oneOf("srt", "vtt"),
    timeline: optional(
      oneOf("cut", "source"),
      "Clock of the times: cut (default), the rendered cut; source, the recording",
    ),
  }),
  responses: { 200: respondsWithFile("The subtitles") },
  load: cutLoader,
  handle: async ({ services }, { query, resource }) =>
    fileDownload(await createSubtitle(services, resource, { format: query.format, timeline: query.timeline ?? "cut" })),
});

export const readCutTranscript = route({
  summary: "Export the text of a cut",
  errors: ["conflict", "unsupported_format", "upstream_unavailable"],
  query: strictObject({
    format: withDescription(oneOf(...TRANSCRIPT_FORMATS), "txt: plain text; md: Markdown; docx: Word"),
    times: optional(
      oneOf("true", "false"),
      "Whether paragraphs begin with their time in the rendered cut (default: false)",
    ),
  }),
  responses: { 200: respondsWithFile("The text that the cut keeps, in paragraphs") },
  load: cutLoader,
  handle: async ({ services }, { query, resource }) =>
    fileDownload(
      await createTranscriptFile(services, resource, { format: query.format, hasTimes: query.times === "true" }),
    ),
});
