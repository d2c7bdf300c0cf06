/** What the capabilities in this folder work with. `boot.ts` makes it. */
import type { Folders } from "../blobs/folders";
import type { SignedLinks } from "../blobs/signed-links";
import type { Config } from "../config";
import type { Runner } from "../domain/jobs";
import type { SpeechEngine } from "../domain/speech";
import type { DiskReserve } from "../lib/disk-reserve";
import type { Log } from "../lib/log";
import type { Sandbox } from "../lib/sandbox";
import type { Semaphore } from "../lib/semaphore";
import type { VideoEncoder } from "../media/encoder-arguments";
import type { Ffmpeg } from "../media/ffmpeg";
import type { Resolve } from "../outbound/addresses";
import type { Store } from "../store/db";
import type { Cursors } from "../store/paging";
import type { PlanRequests } from "./plan-requests";

export type Services = {
  config: Config;
  store: Store;
  folders: Folders;
  /** The free space on the data folder's file system. */
  disk: DiskReserve;
  links: SignedLinks;
  cursors: Cursors;
  log: Log;
  /** Milliseconds since 1970; replaced in tests. */
  now(): number;
  runner: Runner;
  speech: SpeechEngine;
  ffmpeg: Ffmpeg;
  /** For every process that reads uploaded media. */
  sandbox: Sandbox;
  /** Program and arguments of the child process of a job. */
  jobCommand: string[];
  /** Resolves host names of URLs that users name; limited by user and overall. */
  resolverFor(userId: string): Resolve;
  /** For the processes that encode pictures: as many as there are cores, whatever number of renders has them. */
  encoderSemaphore: Semaphore;
  /** For the timelines, subtitles and edits that requests ask for. */
  planRequests: PlanRequests;
  /** The video encoder in use; found by trying, on the first call. */
  encoder(): Promise<VideoEncoder>;
  /** Where clients reach this server, without a slash at the end. */
  publicUrl(): string;
};
