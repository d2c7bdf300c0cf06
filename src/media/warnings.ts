/** Warnings about differences between a render and its source. Pure. */
import type { AudioStream, RenderRequest } from "../domain/media";
import { findVoicelessSpans } from "../domain/voice-activity";
import { isHdr } from "./color";

export const REPAIRED_WARNING =
  "Some frames of the source could not be decoded and were replaced with their neighbors.";

/** Lists the warnings of a render. `copied`: the video was not fully encoded, and keeps bit depth and dynamic range. */
export function listRenderWarnings(request: RenderRequest, copied = false): string[] {
  const { info } = request.probed;
  const warnings: string[] = [];
  if (request.output.video !== null && info.video !== null && !copied) {
    if (isHdr(info.video)) warnings.push("Video was converted from HDR to SDR.");
    else if (info.video.bitDepth > 8) warnings.push(`Video was converted from ${info.video.bitDepth}-bit to 8-bit.`);
    if (info.video.interlaced) warnings.push("Interlaced video was deinterlaced.");
  }
  if (request.output.audio !== null && info.audio.length > 1)
    warnings.push(
      `Only the first audio track was used. Omitted: ${info.audio.slice(1).map(formatTrackName).join(", ")}.`,
    );
  if (request.output.audio?.noiseReduction !== undefined && isVoiceless(request))
    warnings.push("No voice was found, so noise was not reduced.");
  const [track] = info.audio;
  if (request.output.audio !== null && track?.discrete === true && track.channels > 2)
    warnings.push(
      `Only the first 2 of ${track.channels} audio channels were used: the file does not declare their speaker positions.`,
    );
  return warnings;
}

const isVoiceless = ({ voice = null }: RenderRequest): boolean =>
  voice !== null && voice.speech.length === 0 && findVoicelessSpans(voice).length > 0;

function formatTrackName(track: AudioStream): string {
  const details = [track.title, track.language].filter((detail) => detail !== null).join(", ");
  return details === "" ? `track ${track.index + 1}` : `track ${track.index + 1} (${details})`;
}
