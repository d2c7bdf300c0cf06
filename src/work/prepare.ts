/**
 * Preparation: finds out what was uploaded, then runs two lines side by side. Audio: extract, listen; then the asset is cuttable.
 * Video: poster, filmstrip, browser preview. Every part leaves a whole file or none, so that a second run goes on where the first stopped.
 */

import type { MediaFolder } from "../blobs/folders";
import { AppError } from "../domain/errors";
import type { Job, JobContext } from "../domain/jobs";
import type { Probed, Sniffed } from "../domain/media";
import { extractSpeechPcm } from "../media/extract";
import { makeFilmstrip, makePoster } from "../media/pictures";
import { makePreview, playsInBrowser } from "../media/preview";
import { probe } from "../media/probe";
import { sniff } from "../media/probing/sniff";
import { makeWaveform } from "../media/waveform";
import { type Asset, getAsset, moveAsset, type NewAsset, updateAsset } from "../store/assets";
import type { Queries } from "../store/db";
import { endStep } from "../store/steps";
import { chargeFor, finishPreparation, holdCharge, releaseCharge, tellAsset } from "./charge";
import { findAnalysisAudio, makeOnce, readListening, readProbed, writeListening, writeProbed } from "./prepared";
import type { Services } from "./services";

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

  const sniffed = await sniffSource(folder);
  const probed = await probeSource(services, folder, sniffed, context.signal);
  report("probe")(1);
  await noteDuration(services, asset, probed, sniffed);

  // When one line fails the other is stopped, and only then does the job end.
  const lines = new AbortController();
  const signal = AbortSignal.any([context.signal, lines.signal]);
  const results = await Promise.allSettled(
    [
      audioLine(services, asset, folder, probed, signal, report),
      videoLine(services, asset, folder, probed, sniffed, signal, report),
    ].map((line) =>
      line.catch((error) => {
        lines.abort(error);
        throw error;
      }),
    ),
  );
  const failed = results.filter((r) => r.status === "rejected").map((r) => r.reason);
  if (failed.length > 0) throw lines.signal.reason ?? failed[0];

  await services.store.write(async (tx) => {
    if (!(await endStep(tx, job.stepId, "completed", services.now()))) return;
    const current = await getAsset(tx, asset.id);
    if (current?.state === "processing") await finishPreparation(tx, current, services.now());
  });
}

async function sniffSource(folder: MediaFolder): Promise<Sniffed> {
  const head = new Uint8Array(
    await Bun.file(folder.source)
      .slice(0, 64 * 1024)
      .arrayBuffer(),
  );
  const sniffed = await sniff(head);
  if (!sniffed) throw new AppError("unsupported_media", "The file is not audio or video of a known format.");
  return sniffed;
}

async function probeSource(
  services: Services,
  folder: MediaFolder,
  sniffed: Sniffed,
  signal: AbortSignal,
): Promise<Probed> {
  const known = await readProbed(folder);
  if (known) return known;
  const { config } = services;
  const probed = await probe({
    path: folder.source,
    sniffed,
    ffmpeg: services.ffmpeg,
    limits: { durationSeconds: config.maxDurationSeconds, side: config.maxSidePixels, streams: config.maxStreams },
    signal,
  });
  await writeProbed(folder, probed);
  return probed;
}

async function noteDuration(services: Services, asset: Asset, probed: Probed, sniffed: Sniffed): Promise<void> {
  const { info } = probed;
  await services.store.write(async (tx) => {
    const changed = await moveAsset(tx, asset.id, "processing", {
      type: info.type,
      extension: sniffed.extension,
      content_type: contentType(sniffed, info.type),
      demuxer: info.demuxer,
      duration: info.duration,
      info,
      // What is held stays the price, also when the settings change between two attempts.
      charge: asset.charge ?? chargeFor(info.duration, services.config.creditsPerMinute),
    });
    if (changed) await holdCharge(tx, changed, services.now());
  });
}

/** The sniffed type, corrected by what is inside: an MP4 without pictures is `audio/mp4`. */
const contentType = (sniffed: Sniffed, type: "audio" | "video"): string =>
  sniffed.type === type ? sniffed.contentType : sniffed.contentType.replace(/^(audio|video)\//, `${type}/`);

type Report = (part: keyof typeof PARTS) => (share: number) => void;

async function audioLine(
  services: Services,
  asset: Asset,
  folder: MediaFolder,
  probed: Probed,
  signal: AbortSignal,
  report: Report,
): Promise<void> {
  const note = (change: Partial<NewAsset>) => services.store.write((tx) => updateAsset(tx, asset.id, change));
  if (probed.info.audio.length === 0) {
    report("extract")(1);
    report("listen")(1);
    await note({ audio_prepared: true });
    return;
  }
  const audio = await findAnalysisAudio(folder);
  await makeOnce(audio.path, (outputPath) =>
    extractSpeechPcm({
      ffmpeg: services.ffmpeg,
      path: folder.source,
      probed,
      outputPath,
      signal,
      onProgress: report("extract"),
    }),
  );
  report("extract")(1);
  await makeOnce(folder.waveform, (outputPath) => makeWaveform({ pcm: audio, outputPath, signal }));
  const heard =
    (await readListening(folder)) ??
    (await services.speech.listen(audio, { language: asset.language, signal, onProgress: report("listen") }));
  await writeListening(folder, heard);
  report("listen")(1);
  await note({ audio_prepared: true, has_waveform: true, has_transcript: heard.transcript !== null });
}

async function videoLine(
  services: Services,
  asset: Asset,
  folder: MediaFolder,
  probed: Probed,
  sniffed: Sniffed,
  signal: AbortSignal,
  report: Report,
): Promise<void> {
  const { ffmpeg } = services;
  const change: Partial<NewAsset> = { video_prepared: true };
  const common = { ffmpeg, path: folder.source, probed, signal };
  if (probed.info.video) {
    await makeOnce(folder.poster, (outputPath) => makePoster({ ...common, outputPath }));
    await makeOnce(folder.filmstrip, (outputPath) => makeFilmstrip({ ...common, outputPath }));
    change.has_poster = true;
  }
  if (!playsInBrowser(probed, sniffed)) {
    await makeOnce(folder.preview, (outputPath) =>
      makePreview({ ...common, outputPath, onProgress: report("pictures") }),
    );
    change.has_preview = true;
  }
  report("pictures")(1);
  await services.store.write((tx) => updateAsset(tx, asset.id, change));
}

/** Ends the preparation with the asset failed: nothing is charged. */
export async function failAsset(
  tx: Queries,
  assetId: string,
  code: string,
  message: string,
  now: number,
): Promise<void> {
  const asset = await moveAsset(tx, assetId, "processing", {
    state: "failed",
    error_code: code,
    error_message: message,
    duration: null,
    payment: "none",
  });
  if (!asset) return;
  await releaseCharge(tx, asset, now);
  await tellAsset(tx, asset, "asset.failed", now, "processing");
}
