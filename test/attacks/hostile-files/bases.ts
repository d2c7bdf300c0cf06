/**
 * The valid files that the generator corrupts: one second of small video and audio in each container, made once per
 * run.
 */
import { join } from "node:path";
import { FFMPEG } from "../../http/media";
import type { BaseFiles } from "./cases";

const VIDEO = ["-f", "lavfi", "-t", "1", "-i", "testsrc=size=160x120:rate=10"];
const AUDIO = ["-f", "lavfi", "-t", "1", "-i", "sine=frequency=440:sample_rate=16000"];
const H264 = ["-c:v", "libx264", "-preset", "fast", "-bf", "2", "-g", "5", "-pix_fmt", "yuv420p"];
const AAC = ["-c:a", "aac", "-b:a", "32k"];
const TITLE = ["-metadata", "title=Base", "-metadata", "comment=nothing"];

/** Without anything that differs from run to run: versions, random serial numbers, times. */
const EXACT = ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact", "-threads", "1"];

const RECIPES: Record<keyof BaseFiles, { extension: string; recipe: string[] }> = {
  mp4: { extension: "mp4", recipe: [...VIDEO, ...AUDIO, ...H264, ...AAC, ...TITLE] },
  fragmented: {
    extension: "mp4",
    recipe: [...VIDEO, ...AUDIO, ...H264, ...AAC, "-movflags", "+frag_keyframe+empty_moov+default_base_moof+dash"],
  },
  mkv: { extension: "mkv", recipe: [...VIDEO, ...AUDIO, ...H264, ...AAC, ...TITLE] },
  ogg: { extension: "ogg", recipe: [...AUDIO, "-c:a", "libvorbis", ...TITLE] },
  flac: { extension: "flac", recipe: [...AUDIO, "-c:a", "flac", ...TITLE] },
  wav: { extension: "wav", recipe: [...AUDIO, "-c:a", "pcm_s16le", ...TITLE] },
  mp3: { extension: "mp3", recipe: [...AUDIO, "-c:a", "libmp3lame", "-b:a", "32k", ...TITLE] },
  avi: { extension: "avi", recipe: [...VIDEO, ...AUDIO, "-c:v", "mpeg4", "-c:a", "libmp3lame", ...TITLE] },
  ts: { extension: "ts", recipe: [...VIDEO, ...AUDIO, ...H264, ...AAC, "-f", "mpegts"] },
};

/** Makes the base files in a folder. Throws with ffmpeg's last words. */
export async function makeBaseFiles(folder: string): Promise<BaseFiles> {
  const made = await Promise.all(
    Object.entries(RECIPES).map(async ([name, { extension, recipe }]) => {
      const path = join(folder, `${name}.${extension}`);
      const child = Bun.spawn([FFMPEG, "-v", "error", "-nostdin", "-y", ...recipe, ...EXACT, path], {
        stdin: "ignore",
        stderr: "pipe",
      });
      const errors = await new Response(child.stderr).text();
      if ((await child.exited) !== 0) throw new Error(`${name}: ${errors}`);
      return [name, await Bun.file(path).bytes()] as const;
    }),
  );
  return Object.fromEntries(made) as BaseFiles;
}
