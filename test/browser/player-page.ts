/** Code inside the page of the player's test and benchmark: the player alone, with records of its frames and audio. */
import { type EditorPlan, keepOnly, type Range } from "../../web/editor/model/plan";
import { CutPlayer } from "../../web/editor/player/cut-player";
import type { PlayableMedia } from "../../web/editor/player/engine";
import { findDecodable } from "../../web/editor/player/media-source";

/** Each frame of the test recording has its number in this many blocks, dark or light, from the lowest bit on. */
const FRAME_BITS = 16;

export type Setup = {
  /** The address of pieces, up to the track. */
  piecesUrl: string;
  previewUrl: string;
  videoType: string | null;
  audioType: string | null;
  frameRate: number | null;
  duration: number;
  /** Plays the source, as far as it has types; undefined: the preview. */
  sourceTypes?: PlayableMedia["sourceTypes"];
  sourceLines?: readonly number[];
};

/** A frame that was shown: its number, where the player was, and when, in milliseconds. */
export type ShownFrame = { frame: number; cutTime: number; sourceTime: number; at: number };

const video = document.createElement("video");
document.body.append(video);
const player = new CutPlayer();
const shown: ShownFrame[] = [];
const stalls: number[] = [];
let whole: EditorPlan = { duration: 1, spans: [] };
let detach = () => {};

const canvas = document.createElement("canvas");
canvas.width = FRAME_BITS;
canvas.height = 1;
const context = canvas.getContext("2d", { willReadFrequently: true })!;

function readFrameNumber(): number {
  context.drawImage(video, 0, 0, FRAME_BITS, 1);
  const { data } = context.getImageData(0, 0, FRAME_BITS, 1);
  let number = 0;
  for (let bit = 0; bit < FRAME_BITS; bit++) if (data[4 * bit]! > 127) number += 2 ** bit;
  return number;
}

function watchFrames(): void {
  video.requestVideoFrameCallback((at, { mediaTime }) => {
    const sourceTime = player.sourceTime.value;
    shown.push({ frame: readFrameNumber(), cutTime: mediaTime, sourceTime, at });
    watchFrames();
  });
}

let recorder: MediaRecorder | null = null;
let chunks: Blob[] = [];

const harness = {
  player,
  video,
  shown,
  stalls,
  open: (
    { piecesUrl, previewUrl, videoType, audioType, frameRate, duration, sourceTypes, sourceLines }: Setup,
    kept: Range[],
  ) => {
    whole = { duration, spans: [{ start: 0, end: duration, isKept: true, review: null }] };
    const media: PlayableMedia = {
      pieceUrl: (track, variant, from, to, { seek, clean }) =>
        `${piecesUrl}/${track}?variant=${variant}&from=${from}&to=${to}${seek === undefined ? "" : `&seek=${seek}`}${clean === undefined ? "" : `&noise_reduction=${clean}`}`,
      previewUrl,
      videoType,
      audioType,
      sourceTypes: { video: sourceTypes?.video ?? null, audio: sourceTypes?.audio ?? null },
      isPreviewReady: sourceTypes === undefined,
      isTurned: false,
      sourceLines: sourceLines ?? [],
      frameRate,
    };
    player.setPlan(keepOnly(whole, kept));
    detach = player.attach(video, media);
    if (videoType !== null) watchFrames();
    video.addEventListener("waiting", () => stalls.push(performance.now()));
  },
  /** Returns the types of the tracks that this browser can decode. */
  decodable: findDecodable,
  duration: () => whole.duration,
  close: () => detach(),
  setKept: (kept: Range[]) => {
    player.setPlan(keepOnly(whole, kept));
    return performance.now();
  },
  /** Announces the plan that is likely next. */
  prepare: (kept: Range[]) => player.prepare(keepOnly(whole, kept)),
  /** Resolves when a place is shown and can be played on. */
  settled: async () => {
    while (video.seeking || video.readyState < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  },
  /** Resolves at the end of playback. */
  ended: () =>
    // The event follows the property.
    video.ended && !player.isPlaying.value
      ? Promise.resolve()
      : new Promise<void>((resolve) => video.addEventListener("ended", () => resolve(), { once: true })),
  record: () => {
    const capturing = video as unknown as { captureStream?(): MediaStream; mozCaptureStream?(): MediaStream };
    const stream = (capturing.captureStream ?? capturing.mozCaptureStream)!.call(video);
    chunks = [];
    const mimeType = ["audio/webm;codecs=pcm", "audio/webm;codecs=opus"].find((type) =>
      MediaRecorder.isTypeSupported(type),
    )!;
    recorder = new MediaRecorder(new MediaStream(stream.getAudioTracks()), { mimeType, audioBitsPerSecond: 510_000 });
    recorder.addEventListener("dataavailable", ({ data }) => chunks.push(data));
    recorder.start();
  },
  /** Resolves with whether anything was recorded so far. */
  isRecording: async () => {
    await new Promise<void>((resolve) => {
      recorder!.addEventListener("dataavailable", () => resolve(), { once: true });
      recorder!.requestData();
    });
    return chunks.some(({ size }) => size > 0);
  },
  /** Returns the recorded audio as WebM, in base64. */
  stopRecording: async () => {
    await new Promise<void>((resolve) => {
      recorder!.addEventListener("stop", () => resolve(), { once: true });
      recorder!.stop();
    });
    return await new Promise<string>((resolve) => {
      const reader = new FileReader();
      reader.addEventListener("load", () => resolve(String(reader.result).split(",")[1]!));
      reader.readAsDataURL(new Blob(chunks));
    });
  },
  state: () => ({
    sourceTime: player.sourceTime.value,
    cutTime: player.cutTime.value,
    length: player.length.value,
    isPlaying: player.isPlaying.value,
    error: player.error.value,
    waiting: player.waiting.value,
  }),
};

Object.assign(window, { harness });
export type PlayerHarness = typeof harness;
