/** An hour of audio for the benchmark of a recording's page, and the measurements of its playback. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type EditorPlan, listKept } from "../../../web/editor/model/plan";
import { snapToFrames } from "../../../web/editor/player/timeline";
import { compareAudio, readSamples } from "../../browser/player-media";
import { makeMedia } from "../../http/media";
import { temporaryFolder } from "../../temporary-folder";

/** Every millisecond of it is unlike the others. Copies of it take seconds to make. */
const REPEATED_SECONDS = 300;
const JOINS = 20;
const FLIPS = 20;

/** Noise, whose packets the browser plays as they are. The player's benchmark has video. */
export async function createHour(seconds: number): Promise<Uint8Array> {
  await using folder = await temporaryFolder();
  const part = join(folder.path, "part.m4a");
  const noise = ["-f", "lavfi", "-i", "anoisesrc=c=white:seed=7:r=48000:a=0.3", "-t", String(REPEATED_SECONDS)];
  await Bun.write(part, await makeMedia("part.m4a", ...noise, "-c:a", "aac", "-b:a", "160k"));
  const loops = Math.ceil(seconds / REPEATED_SECONDS);
  return await makeMedia("hour.m4a", "-stream_loop", String(loops), "-i", part, "-t", `${seconds}`, "-c", "copy");
}

/** `stalls`: how often playback waited for data, as on a busy machine. A pause at a join is in `join_max_ms`. */
export type JoinFigures = { joins: number; joins_found: number; join_max_ms: number; stalls: number };

/** Plays the first spans of the cut, records the output, and finds it in the recording. */
export async function measureJoins(page: Page, plan: EditorPlan, media: Uint8Array): Promise<JoinFigures> {
  const kept = snapToFrames(listKept(plan), null, plan.duration).slice(0, JOINS + 1);
  const seconds = kept.reduce((sum, { start, end }) => sum + end - start, 0) / 1e6;
  await page.waitForFunction(() => document.querySelector("video")!.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA);
  await page.evaluate(() => {
    const video = document.querySelector("video")! as HTMLVideoElement & { captureStream(): MediaStream };
    const chunks: Blob[] = [];
    const stream = new MediaStream(video.captureStream().getAudioTracks());
    const recorder = new MediaRecorder(stream, { mimeType: "audio/webm;codecs=pcm" });
    recorder.addEventListener("dataavailable", ({ data }) => chunks.push(data));
    recorder.start();
    Object.assign(window, { recorder, chunks, stalls: 0 });
    video.addEventListener("waiting", () => (window as unknown as { stalls: number }).stalls++);
  });
  await page.keyboard.press("Space");
  await page.waitForFunction((end) => document.querySelector("video")!.currentTime > end, seconds + 0.2, {
    timeout: (seconds + 60) * 1000,
  });
  await page.keyboard.press("Space");
  const stalls = await page.evaluate(() => (window as unknown as { stalls: number }).stalls);
  const webm = await page.evaluate(async () => {
    const { recorder, chunks } = window as unknown as { recorder: MediaRecorder; chunks: Blob[] };
    const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
    recorder.stop();
    await stopped;
    return await new Promise<string>((resolve) => {
      const reader = new FileReader();
      reader.addEventListener("load", () => resolve(String(reader.result).split(",")[1]!));
      reader.readAsDataURL(new Blob(chunks));
    });
  });
  const source = await readSamples("hour.m4a", media, kept.at(-1)!.end / 1e6 + 1);
  const joins = compareAudio(await readSamples("played.webm", Buffer.from(webm, "base64")), source, kept);
  const found = joins.flatMap(({ shift }) => (shift === null ? [] : [Math.abs(shift) / 48]));
  return { joins: joins.length, joins_found: found.length, join_max_ms: Math.max(...found), stalls };
}

/**
 * Decides places of the review. Returns milliseconds from each key to the moment at which the next place is heard: the
 * media element has come to it, and its time, which is that of the audio output, moves on.
 */
export async function measureFlips(page: Page, count = FLIPS): Promise<number[]> {
  await page.keyboard.press("n");
  await page.getByRole("region", { name: "Place to review" }).waitFor();
  const flips: number[] = [];
  for (let flip = 0; flip < count; flip++) {
    await page.waitForFunction(() => !document.querySelector("video")!.paused);
    await page.waitForTimeout(400);
    await page.evaluate(() => {
      const media = document.querySelector("video")!;
      Object.assign(window, { flipMs: undefined });
      let target: number | null = null;
      media.addEventListener("seeking", () => (target ??= media.currentTime), { once: true });
      const onKey = (event: KeyboardEvent) => {
        const pressed = event.timeStamp;
        const check = () => {
          const isHeard = target !== null && !media.seeking && !media.paused && media.currentTime > target + 0.001;
          if (isHeard) Object.assign(window, { flipMs: performance.now() - pressed });
          else setTimeout(check, 1);
        };
        check();
      };
      addEventListener("keydown", onKey, { once: true, capture: true });
    });
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => (window as unknown as { flipMs?: number }).flipMs !== undefined);
    flips.push(await page.evaluate(() => (window as unknown as { flipMs: number }).flipMs));
  }
  await page.keyboard.press("k");
  await page.keyboard.press("Escape");
  return flips;
}
