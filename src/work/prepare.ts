/**
 * Preparation: finds out what was uploaded, then runs two lines side by side. Audio: extract, listen; then the asset is cuttable.
 * Video: poster, filmstrip, browser preview. Every part leaves a whole file or none, so that a second run goes on where the first stopped.
 */

import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { MediaFolder } from "../blobs/folders";
import { type Job, type JobContext, JobYielded } from "../domain/jobs";
import type { MediaInfo, SniffedMedia } from "../domain/media";
import type { PcmFile } from "../domain/speech";
import { toSeconds } from "../domain/time";
import type { Ffmpeg } from "../media/ffmpeg";
import { isPlayableInBrowser } from "../media/preview";
import type { ProbeLimits } from "../media/probe";
import { type Asset, getAsset, type NewAsset, updateAsset, updateAssetInState } from "../store/assets";
import type { Queries } from "../store/db";
import { endStep } from "../store/steps";
import { completePreparation, computeCharge, holdCharge, releaseCharge } from "./charge";
import { emitAssetEvent } from "./events";
import { type JobChild, openJobChild } from "./job-child/child";
import { maxMediaMemoryBytes, probeTimeLimits } from "./job-child/limits";
import { commitFile, openScratchFolder, type ScratchFolder } from "./job-child/scratch";
import { hasListening, hasTranscript, writeListening } from "./prepared-files";
import { measureDerivatives, removePartFiles } from "./prepared-size";
import type { Services } from "./services";

const YIELD_POLL_MS = 200;

/** What share of the whole each part is, for the progress. */
const PARTS = { probe: 0.05, extract: 0.1, listen: 0.7, pictures: 0.15 } as const;

/** The job `prepare`. */
export async function prepare(services: Services, job: Job, context: JobContext): Promise<void> {
  const asset = await getAsset(services.store.read, job.subjectId);
  if (asset?.state !== "processing") return;
  const folder = services.folders.media(asset.id);
  const done: Record<keyof typeof PARTS, number> = { probe: 0, extract: 0, listen: 0, pictures: 0 };
  const report = (part: keyof typeof PARTS) => (share: number) => {
    done[part] = share;
    context.progress(
      Object.entries(done).reduce((sum, [name, part]) => sum + PARTS[name as keyof typeof PARTS] * part, 0),
    );
  };

  await removePartFiles(folder.dir);
  // Of a preparation that an older version began.
  await rm(folder.rawAudio, { force: true });
  await using scratch = await openScratchFolder(services.folders.work(asset.id));
  await using child = openJobChild({
    command: services.jobCommand,
    sandbox: services.sandbox,
    view: { readOnly: [folder.dir], writable: [scratch.path], devices: false },
    limitCode: "corrupt_media",
    maxMemoryBytes: maxMediaMemoryBytes(Bun.file(folder.source).size),
    maxFileBytes: services.disk.maxFileBytes(),
  });
  const source = { ffmpeg: services.ffmpeg, source: folder.source, probed: folder.probed };
  const { sniffed, info } = await probeSource(services, { folder, child, scratch, signal: context.signal });
  report("probe")(1);
  await noteDuration(services, asset, info, sniffed);

  // When one line fails the other is stopped, and only then does the job end.
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  // Recognizing speech takes long, and needs the child no more.
  let users = 2;
  const releaseChild = () => {
    users--;
    if (users === 0) void child.end();
  };
  const canYield = () => users === 0 && context.shouldYield();
  const line: Line = { asset, folder, child, scratch, source, info, sniffed, signal, report, releaseChild, canYield };
  const results = await Promise.allSettled(
    [audioLine(services, line), videoLine(services, line)].map((running) =>
      running.catch((error) => {
        stop.abort(error);
        throw error;
      }),
    ),
  );
  const failed = results.filter((r) => r.status === "rejected").map((r) => r.reason);
  if (failed.length > 0) throw stop.signal.reason ?? failed[0];

  const derivedBytes = await measureDerivatives(folder);
  await services.store.write(async (tx) => {
    if (!(await endStep(tx, job.stepId, "completed", services.now()))) return;
    await updateAsset(tx, asset.id, { derived_bytes: derivedBytes });
    const current = await getAsset(tx, asset.id);
    if (current?.state === "processing") await completePreparation(tx, current, services.now());
  });
}

/** What the source is. Leaves the file `probed` in the asset's folder, also when an earlier attempt has made it. */
async function probeSource(
  services: Services,
  { folder, child, scratch, signal }: Pick<Line, "folder" | "child" | "scratch" | "signal">,
): Promise<{ sniffed: SniffedMedia; info: MediaInfo }> {
  const isKnown = await Bun.file(folder.probed).exists();
  const probed = isKnown ? folder.probed : join(scratch.path, basename(folder.probed));
  const input = { ffmpeg: services.ffmpeg, source: folder.source, probed, limits: probeLimits(services) };
  const timeLimits = probeTimeLimits(Bun.file(folder.source).size);
  const found = await child.run("probe", input, { signal, limits: timeLimits });
  if (!isKnown) await commitFile(probed, folder.probed);
  return found;
}

const probeLimits = ({ config }: Services): ProbeLimits => ({
  maxDurationSeconds: config.maxDurationSeconds,
  maxSidePixels: config.maxSidePixels,
  maxStreams: config.maxStreams,
});

async function noteDuration(services: Services, asset: Asset, info: MediaInfo, sniffed: SniffedMedia): Promise<void> {
  await services.store.write(async (tx) => {
    const changed = await updateAssetInState(tx, asset.id, "processing", {
      type: info.type,
      extension: sniffed.extension,
      content_type: contentType(sniffed, info.type),
      demuxer: info.demuxer,
      duration: info.duration,
      info,
      // What is held stays the price, also when the settings change between two attempts.
      charge: asset.charge ?? computeCharge(info.duration, services.config.creditsPerMinute),
    });
    if (changed) await holdCharge(tx, changed, services.now());
  });
}

/** The sniffed type, corrected by what is inside: an MP4 without pictures is `audio/mp4`. */
const contentType = (sniffed: SniffedMedia, type: "audio" | "video"): string =>
  sniffed.type === type ? sniffed.contentType : sniffed.contentType.replace(/^(audio|video)\//, `${type}/`);

/** What both lines work with. */
type Line = {
  asset: Asset;
  folder: MediaFolder;
  child: JobChild;
  scratch: ScratchFolder;
  /** The part of the child's input that all operations have. */
  source: { ffmpeg: Ffmpeg; source: string; probed: string };
  info: MediaInfo;
  sniffed: SniffedMedia;
  signal: AbortSignal;
  report: (part: keyof typeof PARTS) => (share: number) => void;
  /** To be called by each line once it needs the child no more. */
  releaseChild: () => void;
  /** Whether the job was asked to yield, and neither line needs the child: its work would be lost. */
  canYield: () => boolean;
};

async function audioLine(services: Services, line: Line): Promise<void> {
  const { asset, folder, child, scratch, source, info, signal, report } = line;
  const note = (change: Partial<NewAsset>) => services.store.write((tx) => updateAsset(tx, asset.id, change));
  if (info.audio.length === 0) {
    line.releaseChild();
    report("extract")(1);
    report("listen")(1);
    await note({ audio_prepared: true });
    return;
  }
  const options = { signal, recordingSeconds: toSeconds(info.duration) };
  const audio = { path: folder.analysisAudio };
  await scratch.createOnce(audio.path, (outputPath) =>
    child.run("extract", { ...source, outputPath }, { ...options, onProgress: report("extract") }),
  );
  report("extract")(1);
  await scratch.createOnce(folder.waveform, (outputPath) =>
    child.run("waveform", { pcm: audio.path, outputPath }, options),
  );
  line.releaseChild();
  if (!(await hasListening(folder))) await recognizeSpeech(services, line, audio);
  report("listen")(1);
  await note({ audio_prepared: true, has_waveform: true, has_transcript: await hasTranscript(folder) });
}

/** Recognizes speech, yields when asked to and nothing else of the asset is under way, and resumes where an earlier run ended. */
async function recognizeSpeech(services: Services, line: Line, audio: PcmFile): Promise<void> {
  const { asset, folder, signal, report } = line;
  const yielding = new AbortController();
  let isSaved = false;
  // Not before this run has saved something: else runs that are short would never get ahead.
  const timer = setInterval(() => {
    if (isSaved && line.canYield()) yielding.abort(new JobYielded());
  }, YIELD_POLL_MS);
  try {
    const listening = await services.speech.analyze(audio, {
      owner: asset.user_id,
      language: asset.language,
      signal: AbortSignal.any([signal, yielding.signal]),
      onProgress: report("listen"),
      progressPath: folder.listeningProgress,
      onSaved: () => {
        isSaved = true;
      },
    });
    await writeListening(folder, listening);
  } finally {
    clearInterval(timer);
  }
  await rm(folder.listeningProgress, { force: true });
}

async function videoLine(services: Services, line: Line): Promise<void> {
  const { asset, folder, child, scratch, source, info, sniffed, signal, report } = line;
  const options = { signal, recordingSeconds: toSeconds(info.duration) };
  const change: Partial<NewAsset> = { video_prepared: true };
  if (info.video) {
    await scratch.createOnce(folder.poster, (outputPath) => child.run("poster", { ...source, outputPath }, options));
    await scratch.createOnce(folder.filmstrip, (outputPath) =>
      child.run("filmstrip", { ...source, outputPath }, options),
    );
    change.has_poster = true;
  }
  if (!isPlayableInBrowser(info, sniffed)) {
    await scratch.createOnce(folder.preview, (outputPath) =>
      child.run("preview", { ...source, outputPath }, { ...options, onProgress: report("pictures") }),
    );
    change.has_preview = true;
  }
  line.releaseChild();
  report("pictures")(1);
  await services.store.write((tx) => updateAsset(tx, asset.id, change));
}

const UNKNOWN_BYTES = 1;

/** Ends the preparation with the asset failed: nothing is charged. */
export async function failAsset(
  tx: Queries,
  assetId: string,
  code: string,
  message: string,
  now: number,
): Promise<void> {
  const asset = await updateAssetInState(tx, assetId, "processing", {
    state: "failed",
    error_code: code,
    error_message: message,
    duration: null,
    payment: "none",
    // Until they are removed, which a crash may prevent: the next start then finds them.
    derived_bytes: UNKNOWN_BYTES,
  });
  if (!asset) return;
  await releaseCharge(tx, asset, now);
  await emitAssetEvent(tx, asset, "asset.failed", now, "processing");
}
