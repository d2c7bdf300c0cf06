/** Media of an asset for pages: authenticated by the session instead of signed links, and without a rate limit. */
import { Type } from "@sinclair/typebox";
import type { MediaFolder } from "../../blobs/folders";
import { AppError } from "../../domain/errors";
import { reducePeaks } from "../../domain/peaks";
import { PREVIEW_TYPES } from "../../domain/preview";
import { integerField, strictObject, uuidField } from "../../domain/schema-parts";
import { MAX_PARTIAL_WORDS } from "../../domain/speech";
import { toSeconds } from "../../domain/time";
import { findFile } from "../../lib/file-size";
import { type Asset, findAsset } from "../../store/assets";
import { isCuttable, isViewable } from "../../work/cuts/new-cuts";
import { openTranscriptColumns, readTranscriptColumns } from "../../work/previews/files";
import {
  findPreviewProgress,
  findPreviewWait,
  openLoudness,
  openPreview,
  openSourceFacts,
  requireLoudness,
  requirePreview,
  requireStoryboard,
} from "../../work/previews/previews";
import { type Call, ok, type Reply } from "../call";
import { matchesEtag, replyWithFile } from "../file-response";
import type { PathParameter } from "../parse-request";
import { respondsWith, respondsWithFile, respondsWithNothing } from "../response-docs";
import { createOwnLoader, route } from "../route";
import { FILE_POLICY } from "../security-headers";

export const mediaQuery = strictObject({
  workspace_id: Type.Optional(
    uuidField("The workspace, in place of the header Offcut-Workspace, which media elements cannot send"),
  ),
});
/** Derived files change only when a newer version of the server creates them again. */
export const MEDIA_CACHE = "private, max-age=3600";

export const loadAsset = createOwnLoader("Asset", "asset_id", findAsset);

export const MEDIA_ERRORS = [
  "asset_processing",
  "asset_payment_required",
  "asset_failed",
  "not_found",
  "upstream_unavailable",
] as const satisfies AppError["code"][];

export const mediaRoute = {
  access: { rateLimited: false },
  query: mediaQuery,
  load: loadAsset,
  errors: [...MEDIA_ERRORS],
};

const getFolder = ({ services }: Call, asset: Asset): MediaFolder => services.folders.media(asset.id);

/** Returns the file with a validator. Throws `AppError` `not_found`, or `upstream_unavailable` while offline. */
async function serve(call: Call, asset: Asset, path: string, contentType: string, what: string): Promise<Reply> {
  const file = await call.services.folders.guard.readOnline(() => findFile(path));
  if (file === null) throw new AppError("not_found", `Asset has no ${what}.`);
  return replyWithFile(call.request, {
    file,
    modifiedAt: file.lastModified,
    etag: `"${asset.id}-${what}-${file.size}-${Math.round(file.lastModified)}"`,
    headers: { "Cache-Control": MEDIA_CACHE, "Content-Type": contentType, "Content-Security-Policy": FILE_POLICY },
  });
}

/** Creates a route that serves a file of the asset. `find` returns its path and throws if it is not ready. */
const fileRoute = (definition: {
  summary: string;
  description: string;
  contentType: string;
  what: string;
  pathParameters?: Record<string, PathParameter>;
  find(call: Call, asset: Asset, folder: MediaFolder): Promise<string>;
}) =>
  route({
    summary: definition.summary,
    ...mediaRoute,
    pathParameters: definition.pathParameters ?? {},
    headers: { Range: "Bytes of the file" },
    responses: {
      200: respondsWithFile(definition.description),
      206: respondsWithFile("The bytes of the range"),
      304: respondsWithNothing("Not modified"),
      416: respondsWithNothing("The range is not in the file"),
    },
    handle: async (call, { resource }) => {
      const path = await definition.find(call, resource, getFolder(call, resource));
      return serve(call, resource, path, definition.contentType, definition.what);
    },
  });

export const poster = fileRoute({
  summary: "Read the poster of a video",
  description: "A picture of the recording",
  contentType: "image/jpeg",
  what: "poster",
  find: async (_, __, folder) => folder.poster,
});

export const preview = fileRoute({
  summary: "Read the preview: a small copy that browsers play",
  description: "H.264 and AAC in MP4, at most 540 pixels on the shorter side",
  contentType: "video/mp4",
  what: "preview",
  find: async (call, asset, folder) => {
    await requirePreview(call.services, asset, call.principal.user.id);
    return folder.preview;
  },
});

export const filmstrip = fileRoute({
  summary: "Read the filmstrip of a video",
  description: "Pictures of the recording at equal intervals, side by side",
  contentType: "image/jpeg",
  what: "filmstrip",
  find: async (_, __, folder) => folder.filmstrip,
});

/** Older versions created it with the preview. */
const hasPeaks = async (asset: Asset, folder: MediaFolder): Promise<boolean> =>
  isViewable(asset) && (await Bun.file(folder.peaks).exists());

export const waveform = fileRoute({
  summary: "Read the peaks of the audio",
  description: "`OCW1`, peaks per second and number of peaks (32 bits each, little-endian), then a byte for each peak",
  contentType: "application/octet-stream",
  what: "waveform",
  find: async (call, asset, folder) => {
    if (!(await hasPeaks(asset, folder))) await requirePreview(call.services, asset, call.principal.user.id);
    return folder.peaks;
  },
});

const MAX_POINTS = 2_000;

export const envelope = route({
  summary: "Read the peaks of an asset's audio for a waveform",
  ...mediaRoute,
  query: strictObject({
    ...mediaQuery.properties,
    points: { ...integerField(1, MAX_POINTS, "Number of peaks"), default: 100 },
  }),
  responses: { 200: respondsWithFile("A byte for each peak") },
  handle: async (call, { query, resource }) => {
    const folder = getFolder(call, resource);
    const file = await call.services.folders.guard.readOnline(async () =>
      (await hasPeaks(resource, folder)) ? Bun.file(folder.peaks).bytes() : null,
    );
    if (file === null) throw new AppError("not_found", "Asset has no waveform.");
    return {
      status: 200,
      file: reducePeaks(file, query.points),
      headers: { "Cache-Control": MEDIA_CACHE, "Content-Type": "application/octet-stream" },
    };
  },
});

export const loudness = fileRoute({
  summary: "Read the loudness of the audio",
  description:
    "`OCL1`, steps per second and number of steps (32 bits each, little-endian), then 16 bits for the K-weighted energy of each step and 16 bits for each true peak: hundredths of a decibel above -200 dB, 0 for silence (ITU-R BS.1770-4)",
  contentType: "application/octet-stream",
  what: "loudness",
  find: (call, asset) => requireLoudness(call.services, asset, call.principal.user.id),
});

export const storyboard = route({
  summary: "Describe the storyboard of a video",
  ...mediaRoute,
  responses: { 200: respondsWith("Storyboard", "The storyboard: pictures at regular intervals on numbered sheets") },
  handle: async (call, { resource }) => {
    const storyboard = await requireStoryboard(call.services, resource, call.principal.user.id);
    return { ...ok(storyboard), headers: { "Cache-Control": MEDIA_CACHE } };
  },
});

export const storyboardSheet = fileRoute({
  summary: "Read a sheet of the storyboard",
  description: "Pictures in rows, from left to right",
  contentType: "image/jpeg",
  what: "storyboard sheet",
  pathParameters: {
    sheet: {
      pattern: /^(0|[1-9]\d{0,3})$/,
      schema: Type.Integer({ minimum: 0, maximum: 9999, errorText: "must be the number of a sheet, starting at 0" }),
    },
  },
  find: async (call, asset, folder) => {
    const { sheets } = await requireStoryboard(call.services, asset, call.principal.user.id);
    const n = Number(call.params.sheet);
    if (n >= sheets) throw new AppError("not_found", `Asset has ${sheets} storyboard sheets.`);
    return folder.storyboardSheet(n);
  },
});

export const transcript = route({
  summary: "Read the words of the transcript as columns",
  ...mediaRoute,
  responses: { 200: respondsWith("TranscriptColumns", "The words"), 304: respondsWithNothing("Not modified") },
  handle: async (call, { resource }) => {
    if (!isCuttable(resource)) await requirePreview(call.services, resource, call.principal.user.id);
    const { guard } = call.services.folders;
    const file = await guard.readOnline(() => openTranscriptColumns(getFolder(call, resource)));
    if (file === null) throw new AppError("not_found", "Asset has no transcript.");
    const etag = `"${resource.id}-transcript-${file.size}-${Math.round(file.lastModified)}"`;
    const headers = { "Cache-Control": MEDIA_CACHE, ETag: etag, Vary: "Accept-Encoding" };
    if (matchesEtag(call.request.headers.get("if-none-match"), etag)) return { status: 304, headers };
    const typed = { ...headers, "Content-Type": "application/json; charset=utf-8" };
    if (!/\bgzip\b/.test(call.request.headers.get("accept-encoding") ?? ""))
      return { status: 200, stream: readTranscriptColumns(file), headers: typed };
    return { status: 200, file, headers: { ...typed, "Content-Encoding": "gzip" } };
  },
});

const MAX_WORD_INDEX = 1_000_000;

export const partialTranscript = route({
  summary: "Read the words that are recognized so far, while an asset is transcribed",
  load: loadAsset,
  query: strictObject({
    run: { ...integerField(0, Number.MAX_SAFE_INTEGER, "`run` of the words already read"), default: 0 },
    from: { ...integerField(0, MAX_WORD_INDEX, "Number of words already read"), default: 0 },
  }),
  responses: {
    200: respondsWith(
      "PartialTranscript",
      `At most ${MAX_PARTIAL_WORDS} words from there on. None before and after transcription. Words of the vocabulary are not corrected yet`,
    ),
  },
  handle: async ({ services }, { query, resource }) =>
    ok(services.partialTranscripts.read(resource.id, query.run, query.from)),
});

export const readMedia = route({
  summary: "Describe how pages play an asset",
  ...mediaRoute,
  errors: ["upstream_unavailable"],
  responses: {
    200: respondsWith(
      "AssetMedia",
      "The media types, and the state of the preview. The first call for an old asset starts creating it",
    ),
  },
  handle: async (call, { resource }) => {
    const state = await openPreview(call.services, resource, call.principal.user.id);
    const { facts } = state;
    const { isReady, absentReason } = await openLoudness(call.services, resource, call.principal.user.id);
    const { info } = resource;
    const source = await openSourceFacts(call.services, resource);
    const folder = getFolder(call, resource);
    const { guard } = call.services.folders;
    const isIndexed = await guard.readOnline(() => Bun.file(folder.sourceFacts).exists());
    const hasWaveform = await guard.readOnline(() => hasPeaks(resource, folder));
    // During the preparation, the source is indexed before it is transcribed.
    const isPlayable = isViewable(resource) && info !== null && (resource.audio_prepared || isIndexed === true);
    const [hasVideo, hasAudio] = [isPlayable && info.video !== null, isPlayable && info.audio.length > 0];
    return ok({
      video_type: facts ? (facts.video?.mimeType ?? null) : hasVideo ? PREVIEW_TYPES.video : null,
      audio_type: facts ? (facts.audio?.mimeType ?? null) : hasAudio ? PREVIEW_TYPES.audio : null,
      duration: resource.duration === null ? null : toSeconds(resource.duration),
      frame_rate: info?.video && !info.video.variable ? info.video.frameRate : null,
      start_timecode: resource.info?.timecode ?? null,
      is_preview_ready: facts !== null,
      is_playable: isPlayable,
      has_waveform: hasWaveform === true,
      has_storyboard: isViewable(resource) && (source.storyboard ?? facts?.storyboard ?? null) !== null,
      source: {
        video: source.video && {
          type: source.video.mimeType,
          width: source.video.width,
          height: source.video.height,
          rotation: source.video.rotation,
          starts: source.video.starts,
          bitrate: resource.info?.video?.bitrate ?? null,
        },
        audio: source.audio && {
          type: source.audio.mimeType,
          channels: resource.info?.audio[0]?.channels ?? 2,
          sample_rate: source.audio.timescale,
        },
      },
      loudness: { is_ready: isReady, absent_reason: absentReason },
      progress: findPreviewProgress(state),
      wait: await findPreviewWait(call.services, state),
      error_message: state.errorMessage,
    });
  },
});
