/** Small recordings, made by ffmpeg when a test first asks for them: a second of tone, a second of silence, and so on. */
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder";

/** An ffmpeg that runs here: the system's, else the one that the executable carries. */
export const FFMPEG =
  Bun.which("ffmpeg") ??
  join(import.meta.dir, `../../node_modules/@ffmpeg-installer/${process.platform}-${process.arch}/ffmpeg`);

const made = new Map<string, Promise<Uint8Array>>();

const TONES = "aevalsrc='if(lt(mod(t,2),1),0.3*sin(2*PI*220*t),0)':s=16000";
const PICTURE = "testsrc=size=320x240:rate=10";

/** Runs ffmpeg and gives the file it made. The same arguments are run once. */
export function makeMedia(name: string, ...args: string[]): Promise<Uint8Array> {
  const key = [name, ...args].join("\0");
  const known = made.get(key);
  if (known) return known;
  const making = run(name, args);
  made.set(key, making);
  return making;
}

async function run(name: string, args: string[]): Promise<Uint8Array> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, name);
  const child = Bun.spawn([FFMPEG, "-v", "error", ...args, path], { stdin: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(`ffmpeg: ${await new Response(child.stderr).text()}`);
  return await Bun.file(path).bytes();
}

const input = (source: string, seconds: number) => ["-f", "lavfi", "-t", String(seconds), "-i", source];

/** 320x240 at 10 frames a second, H.264 and AAC. */
export const video = (seconds = 4) =>
  makeMedia(
    "video.mp4",
    ...input(PICTURE, seconds),
    ...input(TONES, seconds),
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest"],
  );

/** The same without sound. */
export const silentVideo = (seconds = 2) =>
  makeMedia("silent.mp4", ...input(PICTURE, seconds), "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p");

/** As many frames as take a while to encode: more chunks than there are cores to encode them at a time. */
export const longVideo = () =>
  makeMedia(
    "long.mp4",
    ...input("testsrc2=size=640x360:rate=60", Math.max(60, 18 * navigator.hardwareConcurrency)),
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"],
  );

/** MPEG-4 Part 2 and MP3 in AVI, which no browser plays. */
export const oldVideo = (seconds = 2) =>
  makeMedia("old.avi", ...input(PICTURE, seconds), ...input(TONES, seconds), "-c:v", "mpeg4", "-c:a", "libmp3lame");

/** Tones, 16 kHz mono. */
export const wav = (seconds = 4) => makeMedia("audio.wav", ...input(TONES, seconds));

/** Nothing but silence. */
export const quiet = (seconds = 4) => makeMedia("quiet.wav", ...input("anullsrc=r=8000:cl=mono", seconds));
