/** The schemas of the output of a render: as it is requested, and as it is shown. Pure. */
import { type TSchema, Type } from "@sinclair/typebox";
import { MAX_FILE_NAME_CHARACTERS } from "./field-limits";
import { NOISE_REDUCTIONS, OUTPUT_FORMATS } from "./media";
import {
  enumeration,
  integer,
  integerField,
  limitedText,
  oneOf,
  optional,
  orNull,
  rational,
  strictObject,
  text,
  withDescription,
} from "./schema-parts";

/**
 * A field that may be absent or null, with the same meaning, so that clients can send back the `output` of a render.
 */
const absentOrNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Optional(orNull(description === undefined ? schema : withDescription(schema, description)));
/** ffmpeg's integers have 32 bits. */
const rateTerm = integerField(1, 2_147_483_647);
const anyInteger = (description: string) =>
  absentOrNull(Type.Integer({ description, errorText: "must be an integer" }));

/** The `output` object of a render request. Absent or null fields match the source. */
export const outputRequest = strictObject({
  format: absentOrNull(oneOf(...OUTPUT_FORMATS), "Default: mp4 for video, m4a for audio"),
  resolution: absentOrNull(
    Type.String({
      pattern: "^[0-9]{1,5}p$",
      description: "Pixels of the shorter side: an even number from 144p up to the source's. Default: the source's",
      errorText: "must look like 720p",
    }),
  ),
  video_bitrate: anyInteger("Bits per second, from 50000 up to the source's. Default: matches the source"),
  frame_rate: anyInteger("Frames per second, 1 to 120 and at most twice the source's. Default: the source's"),
  exact_frame_rate: absentOrNull(
    strictObject({ num: rateTerm, den: rateTerm }),
    "Frames per second as a fraction, in place of `frame_rate`, within the same bounds. The source's rate keeps the times of its frames",
  ),
  audio_bitrate: anyInteger("Bits per second, 32000 to 320000. Default: matches the source"),
  audio: absentOrNull(
    strictObject({
      loudness_lufs: absentOrNull(
        Type.Number({ errorText: "must be a number" }),
        "Integrated loudness of the output in LUFS, -31 to -9, such as -14 (YouTube), -16 (podcasts) or -23 (EBU R128). The true peak stays below -1 dBTP. Default: as it is",
      ),
      noise_reduction: absentOrNull(
        oneOf(...NOISE_REDUCTIONS),
        "Reduces noise in speech. Music, where no voice is detected for three seconds, stays as it is. The audio gets 48 kHz. Default: off",
      ),
      level_speakers: absentOrNull(
        Type.Boolean(),
        "Evens out takes and voices whose levels differ by more than 4 dB. Default: false",
      ),
    }),
    "What is done with the audio. Default: nothing",
  ),
  file_name: absentOrNull(
    limitedText(
      MAX_FILE_NAME_CHARACTERS,
      "Name of the downloaded file without its extension. Default: the source's name",
    ),
  ),
});

/**
 * The `output` object of a render in the API. Values are rounded; null if the output has no such track or the value is
 * unknown. Sent as a request for the same source, it resolves to the same output.
 */
export const outputJson = strictObject({
  format: enumeration(OUTPUT_FORMATS),
  resolution: orNull(Type.String({ pattern: "^[0-9]+p$" })),
  video_bitrate: orNull(integer, "bits per second"),
  frame_rate: orNull(integer, "frames per second, rounded"),
  exact_frame_rate: orNull(rational, "null if `frame_rate` is exact"),
  audio_bitrate: orNull(integer, "bits per second"),
  audio: optional(
    strictObject({
      loudness_lufs: orNull(Type.Number(), "requested integrated loudness, in LUFS; null if it stays as it is"),
      noise_reduction: enumeration(NOISE_REDUCTIONS),
      level_speakers: Type.Boolean({ description: "whether takes and voices were evened out" }),
    }),
    "absent if the audio stays as it is",
  ),
  file_name: optional(text, "absent if the source names the file"),
});
