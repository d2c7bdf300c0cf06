/**
 * One source for each special case of container, codec, frame rate, frame order and clock. All have frame numbers and
 * beeps.
 */
import { aac, audioInput, generate, h264, plainMp4, videoInput } from "./generated-media";

export type Source = {
  name: string;
  path: () => Promise<string>;
  /** Frames per second of the drawn numbers. */
  rate: number;
  silent?: boolean;
  /** The container has no presentation times. */
  decodingTimes?: boolean;
  /** Rotation by the player, in degrees clockwise. */
  rotation?: 270;
};

const seconds = 8;
const make =
  (name: string, ...recipe: string[]) =>
  () =>
    generate(name, ...recipe);
const pal = videoInput("25", seconds);
const ntsc = videoInput("30000/1001", seconds);
const stereo = audioInput(48_000, 2, seconds);

/** Copies a generated file with other container settings. */
const remux =
  (name: string, from: () => Promise<string>, before: string[], ...after: string[]) =>
  async () =>
    await generate(name, ...before, "-i", await from(), "-c", "copy", ...after);

const ntscMp4 = make("ntsc.mp4", ...ntsc, ...stereo, ...h264(48), ...aac);

export const SOURCES: Source[] = [
  { name: "mp4, 30, B-frames", path: plainMp4, rate: 30 },
  { name: "mov, 25, PCM", path: make("pal.mov", ...pal, ...stereo, ...h264(50), "-c:a", "pcm_s16le"), rate: 25 },
  { name: "mkv, 29.97", path: remux("ntsc.mkv", ntscMp4, []), rate: 30_000 / 1_001 },
  {
    name: "webm, VP9, 24, Opus",
    path: make(
      "film.webm",
      ...[...videoInput("24", seconds), ...stereo, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8"],
      ...["-b:v", "600k", "-g", "48", "-c:a", "libopus"],
    ),
    rate: 24,
  },
  { name: "ts, 25, clock from 1.4 s", path: make("pal.ts", ...pal, ...stereo, ...h264(50), ...aac), rate: 25 },
  {
    name: "m2ts with 192-byte packets",
    path: make("pal.m2ts", ...pal, ...stereo, ...h264(50), ...aac, "-mpegts_m2ts_mode", "1"),
    rate: 25,
  },
  {
    name: "avi, MPEG-4, MP3",
    decodingTimes: true,
    path: make("pal.avi", ...pal, ...stereo, "-c:v", "mpeg4", "-q:v", "4", "-bf", "2", "-c:a", "mp3"),
    rate: 25,
  },
  {
    name: "avi, H.264 with B-frames",
    decodingTimes: true,
    path: make("h264.avi", ...pal, ...stereo, ...h264(50), "-c:a", "mp3"),
    rate: 25,
  },
  {
    name: "mpg, MPEG-2",
    path: make("pal.mpg", ...pal, ...stereo, "-c:v", "mpeg2video", "-b:v", "2M", "-bf", "2"),
    rate: 25,
  },
  {
    name: "wmv",

    path: make("pal.wmv", ...pal, ...stereo, "-c:v", "wmv2", "-b:v", "1M", "-c:a", "wmav2"),
    rate: 25,
  },
  { name: "flv", path: make("pal.flv", ...pal, ...audioInput(44_100, 2, seconds), ...h264(50), ...aac), rate: 25 },
  {
    name: "hevc in mp4",
    path: make(
      "hevc.mp4",
      ...[...pal, ...stereo, "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:keyint=50"],
      ...[...aac, "-tag:v", "hvc1"],
    ),
    rate: 25,
  },
  {
    name: "mp4, 23.976",
    path: make("film.mp4", ...videoInput("24000/1001", seconds), ...stereo, ...h264(48), ...aac),
    rate: 24_000 / 1_001,
  },
  {
    name: "mp4, 59.94",
    path: make("fast.mp4", ...videoInput("60000/1001", seconds), ...stereo, ...h264(120), ...aac),
    rate: 60_000 / 1_001,
  },
  {
    name: "mp4, 44.1 kHz mono",
    path: make("mono.mp4", ...ntsc, ...audioInput(44_100, 1, seconds), ...h264(60), ...aac),
    rate: 30_000 / 1_001,
  },
  {
    name: "mp4, open GOP",
    path: make("open.mp4", ...pal, ...stereo, ...h264(50, "-x264-params", "open-gop=1"), ...aac),
    rate: 25,
  },
  {
    name: "mp4, variable rate",
    path: make(
      "vfr-2.mp4",
      ...[
        ...videoInput("30", seconds),
        ...stereo,
        "-vf",
        "select='gt(mod(n*7919,97),12)',settb=1/90000,setpts='PTS+(mod(N*31,13)-6)*0.0006/TB'",
      ],
      ...["-vsync", "vfr", "-enc_time_base", "1:90000", "-video_track_timescale", "90000", ...h264(30), ...aac],
    ),
    rate: 30,
  },
  {
    name: "mp4, edit list that skips frames",
    path: remux("edited.mp4", ntscMp4, ["-ss", "2.5"]),
    rate: 30_000 / 1_001,
  },
  { name: "mp4, start_time 5 s", path: remux("late.mp4", ntscMp4, [], "-output_ts_offset", "5"), rate: 30_000 / 1_001 },
  { name: "mkv, start_time 5 s", path: remux("late.mkv", ntscMp4, [], "-output_ts_offset", "5"), rate: 30_000 / 1_001 },
  {
    name: "mp4, delayed sound",
    path: async () =>
      await generate(
        "delayed-sound.mp4",
        "-i",
        await ntscMp4(),
        "-itsoffset",
        "0.73",
        "-i",
        await ntscMp4(),
        "-map",
        "0:v",
        "-map",
        "1:a",
        "-c",
        "copy",
      ),
    rate: 30_000 / 1_001,
  },
  {
    name: "mp4, delayed picture",
    path: async () =>
      await generate(
        "delayed-picture.mp4",
        "-itsoffset",
        "0.61",
        "-i",
        await ntscMp4(),
        "-i",
        await ntscMp4(),
        "-map",
        "0:v",
        "-map",
        "1:a",
        "-c",
        "copy",
      ),
    rate: 30_000 / 1_001,
  },
  {
    name: "fragmented mp4",
    path: remux("fragments.mp4", ntscMp4, [], "-movflags", "frag_keyframe+empty_moov"),
    rate: 30_000 / 1_001,
  },
  {
    name: "mp4, turned",
    path: remux("turned.mp4", ntscMp4, [], "-metadata:s:v:0", "rotate=90"),
    rate: 30_000 / 1_001,
    rotation: 270,
  },
  { name: "mp4 without sound", path: make("silent.mp4", ...pal, ...h264(50)), rate: 25, silent: true },
  {
    name: "mov, ProRes 10-bit",
    path: make("prores.mov", ...pal, ...stereo, "-c:v", "prores", "-profile:v", "0", "-c:a", "pcm_s24le"),
    rate: 25,
  },
  { name: "mkv, FFV1, FLAC", path: make("lossless.mkv", ...pal, ...stereo, "-c:v", "ffv1", "-c:a", "flac"), rate: 25 },
  {
    name: "ogv, Theora",
    path: make("theora.ogv", ...pal, ...stereo, "-c:v", "libtheora", "-q:v", "6", "-c:a", "libvorbis"),
    rate: 25,
  },
];
