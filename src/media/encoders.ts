/** Detects the encoders that work on this machine, by encoding with them. */
import type { Sandbox } from "../lib/sandbox";
import { QUIET_ARGUMENTS } from "./arguments";
import {
  buildDeviceArguments,
  buildVideoEncoderArguments,
  getPixelFormatFilter,
  VIDEO_ENCODERS,
  type VideoEncoder,
} from "./encoder-arguments";
import { createProbeLimits, type Ffmpeg, tryFfmpeg } from "./ffmpeg";

/** The working encoders in order of preference. */
export type Encoders = { video: VideoEncoder[]; audio: ("aac" | "libmp3lame")[] };

const TRIAL_SECONDS = 15;
const TRIAL_VIEW = { readOnly: [], writable: [], devices: true };

/** Tests every encoder on a few frames, in the sandbox of renders. Encoders that do not work are left out. */
export async function detectEncoders(ffmpeg: Ffmpeg, sandbox: Sandbox): Promise<Encoders> {
  const [video, audio] = await Promise.all([
    Promise.all(VIDEO_ENCODERS.map(async (name) => ((await canEncodeVideo(ffmpeg, sandbox, name)) ? name : null))),
    Promise.all(
      (["aac", "libmp3lame"] as const).map(async (name) =>
        (await canEncodeAudio(ffmpeg, sandbox, name)) ? name : null,
      ),
    ),
  ]);
  return { video: video.filter((name) => name !== null), audio: audio.filter((name) => name !== null) };
}

/**
 * Returns the encoder for renders: the forced one, or the preferred one that works. Errors: a plain `Error` with one
 * line if the forced one does not work, or none does.
 */
export function chooseEncoder(encoders: Encoders, forced: string | null): VideoEncoder {
  if (forced !== null) {
    const found = encoders.video.find((name) => name === forced);
    if (found === undefined)
      throw new Error(
        `Encoder ${forced} does not work on this machine. Working encoders: ${encoders.video.join(", ") || "none"}`,
      );
    return found;
  }
  const best = encoders.video[0];
  if (best === undefined) throw new Error("No H.264 encoder works on this machine.");
  return best;
}

function canEncodeVideo(ffmpeg: Ffmpeg, sandbox: Sandbox, encoder: VideoEncoder): Promise<boolean> {
  const target = { quality: { bitrate: 500_000 }, width: 320, height: 240, framesPerSecond: 30 };
  return canEncode(ffmpeg, sandbox, [
    ...buildDeviceArguments(encoder),
    ...["-f", "lavfi", "-i", "color=c=gray:s=320x240:r=30:d=0.2"],
    ...["-vf", getPixelFormatFilter(encoder), ...buildVideoEncoderArguments(encoder, target)],
  ]);
}

const canEncodeAudio = (ffmpeg: Ffmpeg, sandbox: Sandbox, encoder: string): Promise<boolean> =>
  canEncode(ffmpeg, sandbox, ["-f", "lavfi", "-i", "sine=d=0.2", "-c:a", encoder]);

async function canEncode(ffmpeg: Ffmpeg, sandbox: Sandbox, trial: string[]): Promise<boolean> {
  const { ok } = await tryFfmpeg({
    ffmpeg,
    sandbox: { sandbox, view: TRIAL_VIEW },
    arguments: [...QUIET_ARGUMENTS, ...trial, "-f", "null", "-"],
    limits: createProbeLimits(TRIAL_SECONDS),
  });
  return ok;
}
