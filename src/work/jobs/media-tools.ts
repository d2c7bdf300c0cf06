/** The programs and limits that a job's `run` works with. A machine without a database has them too. */
import type { SpeechEngine } from "../../domain/speech";
import type { EncodingFacts } from "../../domain/worker-messages";
import type { Sandbox } from "../../lib/sandbox";
import type { Semaphore } from "../../lib/semaphore";
import { hasZscaleFilter } from "../../media/chunks/scale";
import type { VideoEncoder } from "../../media/encoder-arguments";
import type { Encoders } from "../../media/encoders";
import type { Ffmpeg } from "../../media/ffmpeg";
import type { SharedJobChild } from "../job-child/child";

export type MediaTools = {
  ffmpeg: Ffmpeg;
  /** Returns the video encoder in use. The first call finds it by encoding a few frames. */
  encoder(): Promise<VideoEncoder>;
  /** Returns all encoders that work. The first call tries them. */
  encoders(): Promise<Encoders>;
  speech: SpeechEngine;
  /** Limits the processes that encode video, whatever number of renders they belong to. */
  encoderSemaphore: Semaphore;
  /** Isolates every process that reads uploaded media. */
  sandbox: Sandbox;
  /** Program and arguments of the child process that reads media; it must call `runJobWorker`. */
  jobCommand: string[];
  /** The child that all runs on one recording share, with no access to devices. Without it, each run starts its own. */
  sharedChild?: Pick<SharedJobChild, "lend"> | undefined;
  /** The folder with the work folders of jobs. */
  temporaryFolder: string;
  /** Returns how large a file a job may write now, in bytes; null without a limit. */
  maxFileBytes(): number | null;
};

/** Returns the facts of this ffmpeg and encoder that affect chunks. */
export const readEncodingFacts = async (ffmpeg: Ffmpeg, encoder: string): Promise<EncodingFacts> => ({
  ffmpeg: ffmpeg.version,
  libavutil: ffmpeg.libavutil,
  encoder,
  hasZscale: await hasZscaleFilter(ffmpeg),
});
