/** Detects the encoders that work on this machine, by encoding with them. */
import { readdirSync } from "node:fs";
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

const AUDIO_ENCODERS = ["aac", "libmp3lame"] as const;
type AudioEncoder = (typeof AUDIO_ENCODERS)[number];

/** The working encoders in order of preference. */
export type Encoders = { video: VideoEncoder[]; audio: AudioEncoder[] };

const TRIAL_SECONDS = 15;
const TRIAL_VIEW = { readOnly: [], writable: [], devices: true };

/** Device files that hardware encoders open on Linux. `dxg` is the graphics card of WSL. */
const DEVICES: Partial<Record<VideoEncoder, RegExp>> = {
  h264_nvenc: /^(nvidia.*|dxg)$/,
  h264_qsv: /^(dri|dxg)$/,
  h264_vaapi: /^(dri|dxg)$/,
  h264_v4l2m2m: /^video\d+$/,
};

/**
 * Returns the video encoders that may work with these files in `/dev`: trying one costs the start of an ffmpeg. Returns
 * all encoders if the files are unknown (null).
 */
export const listCandidateEncoders = (devices: readonly string[] | null, platform: string = process.platform) =>
  VIDEO_ENCODERS.filter((name) => {
    if (name === "h264_videotoolbox") return platform === "darwin";
    const device = platform === "linux" ? DEVICES[name] : undefined;
    return device === undefined || devices === null || devices.some((found) => device.test(found));
  });

/** Returns the files of a folder of devices; null if it is missing or unreadable. */
export function listDevices(folder: string): string[] | null {
  try {
    return readdirSync(folder);
  } catch {
    return null;
  }
}

/**
 * Tests encoders on a few frames, in the sandbox of renders, and leaves out those that do not work. Those that almost
 * every ffmpeg has share a run; if it fails, each is tested alone.
 */
export async function detectEncoders(ffmpeg: Ffmpeg, sandbox: Sandbox): Promise<Encoders> {
  const canEncode = (trial: string[]) => tryArguments(ffmpeg, sandbox, trial);
  const hardware = listCandidateEncoders(listDevices("/dev")).filter((name) => name !== "libx264");
  const [working, hasAll] = await Promise.all([
    filterWorking(hardware, (name) => canEncode(buildVideoTrial(name))),
    canEncode(COMMON_TRIAL),
  ]);
  if (hasAll) return { video: [...working, "libx264"], audio: [...AUDIO_ENCODERS] };
  const [software, audio] = await Promise.all([
    filterWorking(["libx264"] as const, (name) => canEncode(buildVideoTrial(name))),
    filterWorking(AUDIO_ENCODERS, (name) => canEncode([...AUDIO_INPUT, ...buildAudioOutput(name, 0)])),
  ]);
  return { video: [...working, ...software], audio };
}

async function filterWorking<Name>(names: readonly Name[], works: (name: Name) => Promise<boolean>): Promise<Name[]> {
  const results = await Promise.all(names.map(works));
  return names.filter((_, index) => results[index]);
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

const VIDEO_INPUT = ["-f", "lavfi", "-i", "color=c=gray:s=320x240:r=30:d=0.2"];
const AUDIO_INPUT = ["-f", "lavfi", "-i", "sine=d=0.2"];
const NO_OUTPUT = ["-f", "null", "-"];

const buildVideoTrial = (encoder: VideoEncoder): string[] => [
  ...[...buildDeviceArguments(encoder), ...VIDEO_INPUT],
  ...buildVideoOutput(encoder),
];

function buildVideoOutput(encoder: VideoEncoder): string[] {
  const target = { quality: { bitrate: 500_000 }, width: 320, height: 240, framesPerSecond: 30 };
  const filter = ["-map", "0:v", "-vf", getPixelFormatFilter(encoder)];
  return [...filter, ...buildVideoEncoderArguments(encoder, target), ...NO_OUTPUT];
}

/** `input`: the number of the input with audio. */
const buildAudioOutput = (encoder: AudioEncoder, input: number): string[] => [
  ...["-map", `${input}:a`, "-c:a", encoder],
  ...NO_OUTPUT,
];

/** Encodes with each software encoder, in one run. */
const COMMON_TRIAL = [
  ...[...VIDEO_INPUT, ...AUDIO_INPUT, ...buildVideoOutput("libx264")],
  ...AUDIO_ENCODERS.flatMap((name) => buildAudioOutput(name, 1)),
];

async function tryArguments(ffmpeg: Ffmpeg, sandbox: Sandbox, trial: string[]): Promise<boolean> {
  const { ok } = await tryFfmpeg({
    ffmpeg,
    sandbox: { sandbox, view: TRIAL_VIEW },
    arguments: [...QUIET_ARGUMENTS, ...trial],
    limits: createProbeLimits(TRIAL_SECONDS),
  });
  return ok;
}
