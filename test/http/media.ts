/** Small recordings with alternating seconds of tone and silence. ffmpeg creates them on first use. */
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder";

/** The path of the system's ffmpeg, otherwise of the bundled one. */
export const FFMPEG =
  Bun.which("ffmpeg") ??
  join(import.meta.dir, `../../node_modules/@ffmpeg-installer/${process.platform}-${process.arch}/ffmpeg`);

/** The static build that the executable carries: it starts ten times faster than one with shared libraries. */
export const BUNDLED_FFMPEG = join(
  import.meta.dir,
  `../../node_modules/@ffmpeg-installer/${process.platform}-${process.arch}/ffmpeg`,
);

const made = new Map<string, Promise<Uint8Array>>();

const TONES = "aevalsrc='if(lt(mod(t,2),1),0.3*sin(2*PI*220*t),0)':s=16000";
const TEST_PATTERN = "testsrc=size=320x240:rate=10";

/** Returns the file that the bundled ffmpeg writes with these arguments. Runs once for the same arguments. */
export const makeMedia = (name: string, ...args: string[]): Promise<Uint8Array> => makeWith(BUNDLED_FFMPEG, name, args);

function makeWith(ffmpeg: string, name: string, args: string[]): Promise<Uint8Array> {
  const key = [name, ...args].join("\0");
  const known = made.get(key);
  if (known) return known;
  const making = run(ffmpeg, name, args);
  made.set(key, making);
  return making;
}

async function run(ffmpeg: string, name: string, args: string[]): Promise<Uint8Array> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, name);
  const child = Bun.spawn([ffmpeg, "-v", "error", ...args, path], { stdin: "ignore", stderr: "pipe" });
  if ((await child.exited) !== 0) throw new Error(`ffmpeg: ${await new Response(child.stderr).text()}`);
  return await Bun.file(path).bytes();
}

const input = (source: string, seconds: number) => ["-f", "lavfi", "-t", String(seconds), "-i", source];

/** 320x240 at 10 fps, H.264 and AAC. */
export const video = (seconds = 4) =>
  makeMedia(
    "video.mp4",
    ...input(TEST_PATTERN, seconds),
    ...input(TONES, seconds),
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-shortest"],
  );

/** The same without audio. */
export const silentVideo = (seconds = 2) =>
  makeMedia(
    "silent.mp4",
    ...input(TEST_PATTERN, seconds),
    "-c:v",
    "libx264",
    "-preset",
    "ultrafast",
    "-pix_fmt",
    "yuv420p",
  );

/**
 * Enough frames for more chunks than can be encoded at a time. The system's ffmpeg, if it is newer, makes them three
 * times as fast.
 */
export const longVideo = () =>
  makeWith(FFMPEG, "long.mp4", [
    ...input("testsrc2=size=320x180:rate=60", Math.max(60, 18 * navigator.hardwareConcurrency)),
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"],
  ]);

/** MPEG-4 Part 2 and MP3 in AVI, which browsers do not play. */
export const oldVideo = (seconds = 2) =>
  makeMedia(
    "old.avi",
    ...input(TEST_PATTERN, seconds),
    ...input(TONES, seconds),
    "-c:v",
    "mpeg4",
    "-c:a",
    "libmp3lame",
  );

/** Tones, 16 kHz mono. */
export const wav = (seconds = 4) => makeMedia("audio.wav", ...input(TONES, seconds));

/** Silence only. */
export const quiet = (seconds = 4) => makeMedia("quiet.wav", ...input("anullsrc=r=8000:cl=mono", seconds));

/** Lists times, sizes and hashes of the packets of the video track. */
export async function listVideoPackets(bytes: Uint8Array): Promise<string[]> {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "video.mp4");
  await Bun.write(path, bytes);
  const child = Bun.spawn([
    BUNDLED_FFMPEG,
    "-v",
    "error",
    "-i",
    path,
    "-map",
    "0:v",
    "-c",
    "copy",
    "-f",
    "framemd5",
    "-",
  ]);
  return (await new Response(child.stdout).text()).split("\n").filter((line) => !line.startsWith("#") && line !== "");
}
