/** Progress of a render with video: its stages, weighted by their cost. Pure. */

export type RenderStage = "video" | "audio" | "write" | "mux" | "check";

/** Receives the finished share of the work, 0 to 1. */
export type ProgressListener = (share: number) => void;

export type RenderWorkload = {
  /** Whether the whole video is encoded, or only the segments around splices, which use other settings. */
  encoding: "whole" | "h264 segments" | "hevc segments";
  /** Encoded frames, and pixels per frame. */
  encodedFrames: number;
  pixels: number;
  /** Frames of the output, and the frames that the splice check decodes. */
  frames: number;
  checkedFrames: number;
  /** Seconds of source audio to read; 0 without audio. */
  audioSeconds: number;
  /** Number of parallel encoder processes. The later stages use one. */
  processes: number;
};

/** Measured on one core of 2020. Only the ratios matter. */
const ENCODED_PIXELS_PER_SECOND = { whole: 50e6, "h264 segments": 95e6, "hevc segments": 30e6 };
const DECODED_PIXELS_PER_SECOND = 600e6;
const AUDIO_SECONDS_PER_SECOND = 120;
const WRITTEN_FRAMES_PER_SECOND = 20_000;
const MUXED_FRAMES_PER_SECOND = 40_000;
/** Time that a process takes before its first frame. */
const PROCESS_START_SECONDS = 0.2;

/** Progress stays at or below this share until the file is complete. */
const MAX_UNFINISHED_SHARE = 0.99;

/** Returns a function that takes the finished share of a stage, and calls `onShare` with the share of the render. */
export function createRenderProgress(
  workload: RenderWorkload,
  onShare: ProgressListener,
): (stage: RenderStage, share: number) => void {
  const seconds: Record<RenderStage, number> = {
    video:
      (workload.encodedFrames * workload.pixels) / ENCODED_PIXELS_PER_SECOND[workload.encoding] / workload.processes,
    audio: workload.audioSeconds / AUDIO_SECONDS_PER_SECOND / workload.processes,
    write: workload.frames / WRITTEN_FRAMES_PER_SECOND,
    mux: workload.frames === 0 ? 0 : PROCESS_START_SECONDS + workload.frames / MUXED_FRAMES_PER_SECOND,
    check:
      workload.checkedFrames === 0
        ? 0
        : PROCESS_START_SECONDS + (workload.checkedFrames * workload.pixels) / DECODED_PIXELS_PER_SECOND,
  };
  const total = Object.values(seconds).reduce((sum, value) => sum + value, 0);
  const done: Record<RenderStage, number> = { video: 0, audio: 0, write: 0, mux: 0, check: 0 };
  return (stage, share) => {
    done[stage] = Math.max(done[stage], Math.min(1, share) * seconds[stage]);
    const sum = Object.values(done).reduce((previous, value) => previous + value, 0);
    onShare(MAX_UNFINISHED_SHARE * (total > 0 ? sum / total : 1));
  };
}
