/** A talk whose frames show their numbers, a cut of it with known frames, and whether a render of that cut has them. */
import { join } from "node:path";
import type { Client } from "../http/client";
import type { Cut } from "../http/resources";
import { temporaryFolder } from "../temporary-folder";
import { aac, generate, h264, videoInput } from "../unit/media/generated-media";
import { readFrameNumbers, readSamples } from "../unit/media/readback";
import { FIXTURES } from "./offcut";

const FRAME_RATE = 10;
const SECONDS = 52;
/** Speech recognition takes most of the preparation's time. */
const SPEECH_SECONDS = 10;
/** Kept segments in seconds: 40 s in 7 segments, which start and end on frames. */
const KEPT = [
  [0.4, 6.1],
  [7.3, 13],
  [13.9, 20.2],
  [21.5, 27.8],
  [29, 34.4],
  [36.1, 42.7],
  [44, 48],
] as const;
/** A frame of AAC at each end. */
const AUDIO_TOLERANCE_SECONDS = 0.05;
const SAMPLE_RATE = 48_000;

export const KEPT_SECONDS = KEPT.reduce((sum, [start, end]) => sum + end - start, 0);
const KEPT_FRAMES = KEPT.flatMap(([start, end]) => {
  const first = Math.round(start * FRAME_RATE);
  return Array.from({ length: Math.round(end * FRAME_RATE) - first }, (_, index) => first + index);
});

/** Returns a small MP4 that begins with speech of the demonstration recording. */
export async function numberedTalk(): Promise<Uint8Array> {
  const audio = ["-i", join(FIXTURES, "talk.mp4"), "-map", "0:v", "-map", "1:a", "-t", String(SECONDS)];
  const quiet = ["-af", `volume=0:enable='gte(t,${SPEECH_SECONDS})'`];
  const path = await generate(
    `numbered-talk-${FRAME_RATE}-3.mp4`,
    ...videoInput(String(FRAME_RATE), SECONDS),
    ...[...audio, ...quiet, ...h264(20, "-crf", "4"), ...aac],
  );
  return await Bun.file(path).bytes();
}

/** Uploads and prepares the talk, and cuts it to the known frames. */
export async function createKnownCut(user: Client): Promise<Cut> {
  const asset = await user.ready(await numberedTalk(), { filename: "talk.mp4" });
  const planned = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
  if (planned.state !== "completed") throw new Error(`cut is ${planned.state}: ${planned.error_message}`);
  const segments = KEPT.map(([start, end]) => ({ start, end }));
  return await user.must<Cut>("POST", `/v1/cuts/${planned.id}/edits`, { json: { segments } });
}

/** Returns the problems of the render of a known cut, one line each. */
export async function findRenderProblems(bytes: Uint8Array): Promise<string[]> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "render.mp4");
  await Bun.write(path, bytes);
  const [numbers, samples] = await Promise.all([readFrameNumbers(path), readSamples(path)]);
  const problems: string[] = [];
  if (numbers.length !== KEPT_FRAMES.length) problems.push(`${numbers.length} frames, expected ${KEPT_FRAMES.length}`);
  const wrong = KEPT_FRAMES.findIndex((frame, n) => numbers[n] !== frame);
  if (wrong >= 0) problems.push(`frame ${wrong} shows ${numbers[wrong]}, expected ${KEPT_FRAMES[wrong]}`);
  const seconds = samples.length / SAMPLE_RATE;
  if (Math.abs(seconds - KEPT_SECONDS) > AUDIO_TOLERANCE_SECONDS)
    problems.push(`${seconds.toFixed(3)} s of audio, expected ${KEPT_SECONDS.toFixed(3)}`);
  return problems;
}
