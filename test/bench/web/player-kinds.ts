/** Twelve kinds of source whose frames and samples can be recognized. */
import { join } from "node:path";
import { FRAME_RATE } from "../../browser/player-media";
import { makeMedia } from "../../http/media";
import { temporaryFolder } from "../../temporary-folder";

export const SECONDS = 24;

const NUMBER = "geq=lum='if(mod(floor(N/pow(2,X)),2),235,16)':cb=128:cr=128";
const draw = (size: string, filters = "") => [
  ...["-f", "lavfi", "-i", `color=black:s=16x9:r=${FRAME_RATE},${NUMBER},scale=${size}:flags=neighbor${filters}`],
  ...["-f", "lavfi", "-i", "anoisesrc=c=white:seed=7:r=48000:a=0.3", "-t", String(SECONDS)],
];
const noise = ["-f", "lavfi", "-i", "anoisesrc=c=white:seed=7:r=48000:a=0.3", "-t", String(SECONDS)];
const x264 = (gop: number, ...more: string[]) => [
  ...[
    "-c:v",
    "libx264",
    "-preset",
    "veryfast",
    "-pix_fmt",
    "yuv420p",
    "-g",
    String(gop),
    "-sc_threshold",
    "0",
    ...more,
  ],
];
const aac = ["-c:a", "aac", "-b:a", "160k"];
const HD = "1280:720";

/** `hasVideo` false: only sound is compared. */
export type Kind = {
  name: string;
  filename: string;
  hasVideo: boolean;
  /** Returns whether the recording has this frame. Otherwise the one before it is shown for longer. */
  hasFrame(n: number): boolean;
  /** Whether the frames are later than their numbers, so that a span starts with the one before. */
  isLate: boolean;
  make(): Promise<Uint8Array>;
};

const kind = (name: string, filename: string, ...recipe: string[]): Kind => ({
  name,
  filename,
  hasVideo: !/\.(flac|mp3|wav)$/.test(filename),
  hasFrame: (n) => filename !== "variable.mp4" || (n * 7919) % 97 > 12,
  // Opus is delayed by 7 ms, and WebM has no negative times.
  isLate: filename === "vp9.webm",
  // A film in a file of each name: the cache of made files counts names and recipes.
  make: () => makeMedia(filename, ...recipe),
});

/** ffmpeg writes the rotation only when it copies. */
const turned = (upright: Kind): Kind => ({
  ...upright,
  make: async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, upright.filename);
    await Bun.write(path, (await upright.make()) as Uint8Array<ArrayBuffer>);
    return await makeMedia(upright.filename, "-i", path, "-c", "copy", "-metadata:s:v:0", "rotate=270");
  },
});

export const KINDS: Kind[] = [
  kind("H.264 with B-frames", "b.mp4", ...draw(HD), ...x264(50, "-bf", "3"), ...aac),
  kind("H.264, open GOP", "open.mp4", ...draw(HD), ...x264(50, "-bf", "3", "-x264-params", "open-gop=1"), ...aac),
  kind("H.264, GOP of 10 s", "long.mp4", ...draw(HD), ...x264(250, "-bf", "2"), ...aac),
  kind(
    "HEVC",
    "hevc.mp4",
    ...[...draw(HD), "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=50"],
    ...["-pix_fmt", "yuv420p", "-tag:v", "hvc1", ...aac],
  ),
  kind(
    "VP9 and Opus, WebM",
    "vp9.webm",
    ...[...draw(HD), "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "6M", "-g", "50"],
    ...["-pix_fmt", "yuv420p", "-c:a", "libopus", "-b:a", "160k"],
  ),
  kind(
    "variable frame rate",
    "variable.mp4",
    ...[...draw(HD, ",select='gt(mod(n*7919,97),12)'"), "-vsync", "vfr", ...x264(50), ...aac],
  ),
  turned(kind("portrait, rotated", "portrait.mp4", ...draw("720:1280", ",transpose=2,setsar=1"), ...x264(50), ...aac)),
  kind("4:3", "standard.mp4", ...draw("768:576"), ...x264(50), ...aac),
  kind("H.264, 10 bits", "deep.mp4", ...draw(HD), ...x264(50, "-pix_fmt", "yuv420p10le"), ...aac),
  kind("sound only, FLAC", "sound.flac", ...noise, "-c:a", "flac"),
  kind("sound only, MP3", "sound.mp3", ...noise, "-c:a", "libmp3lame", "-b:a", "192k"),
  kind("sound only, WAV", "sound.wav", ...noise, "-c:a", "pcm_s16le"),
];
