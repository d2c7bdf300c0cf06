/**
 * The layout of the data folder and the media folder. Each upload, asset and render has its own folder, so that files
 * of two users never share one.
 */
import { mkdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { MEDIA_FOLDERS } from "../domain/media-folder";
import { flushFolder } from "../lib/atomic-file";
import { ignoreCodes } from "../lib/error-codes";
import { type FolderGuard, noFolderGuard } from "./folder-guard";

/** Returns the paths of an asset's files in `dir`. */
export function getMediaFolder(dir: string) {
  return {
    dir,
    source: join(dir, "source"),
    /** `Probed` as JSON. */
    probed: join(dir, "probed.json"),
    /** The audio that is transcribed, losslessly compressed. Older versions wrote `rawAudio` instead. */
    analysisAudio: join(dir, "analysis.audio"),
    rawAudio: join(dir, "speech.pcm"),
    /** `SpeechAnalysis` as JSON, without its energy contour. */
    speechAnalysis: join(dir, "listening.json"),
    /** The energy contour. Older versions wrote `rawEnergy` instead, as 32-bit floats. */
    energy: join(dir, "energy.steps"),
    rawEnergy: join(dir, "energy.f32"),
    transcript: join(dir, "transcript.json"),
    waveform: join(dir, "waveform.json"),
    poster: join(dir, "poster.jpg"),
    filmstrip: join(dir, "filmstrip.jpg"),
    /** Plays in browsers. Older versions wrote `oldPreview` instead, in another format and not for every asset. */
    preview: join(dir, "preview-540p.mp4"),
    oldPreview: join(dir, "preview.mp4"),
    /** The samples of the preview, as `media/preview/write-index.ts` writes them. */
    previewIndex: join(dir, "preview.index"),
    /** `PreviewFacts` as JSON. Written last, when all other files of the preview are complete. */
    previewFacts: join(dir, "preview.json"),
    /** The packets of the source that browsers may play, as `media/preview/source-index.ts` writes them. */
    sourceIndex: join(dir, "source.index"),
    /** `SourceFacts` as JSON, written after the index. */
    sourceFacts: join(dir, "source.json"),
    /** The loudness in the format OCL1. */
    loudness: join(dir, "loudness.steps"),
    /** The waveform in the format OCW1. */
    peaks: join(dir, "waveform.bin"),
    /** The words as columns, compressed with gzip. */
    transcriptColumns: join(dir, "transcript-columns.json.gz"),
    /** Video and audio that renders have encoded, kept for the next render (`media/render-cache/`). */
    renderCache: join(dir, "render.cache"),
    /** A sheet of the storyboard; `n` counts from 0. */
    storyboardSheet: (n: number) => join(dir, `storyboard-${String(n + 1).padStart(4, "0")}.jpg`),
  };
}

/** Absolute paths of an asset's files. */
export type MediaFolder = ReturnType<typeof getMediaFolder>;

export const getRenderOutputName = (extension: string): string => `output.${extension}`;

const PREVIEW_WORK_EXTENSION = ".preview";

/** Returns the name of a job's work folder. A preview's differs from the preparation's, which may still exist. */
export const getWorkName = (jobName: string, subjectId: string): string =>
  jobName === "preview" ? `${subjectId}${PREVIEW_WORK_EXTENSION}` : subjectId;

/** Returns the subject of the job with this work folder. */
export const parseWorkName = (name: string): string =>
  name.endsWith(PREVIEW_WORK_EXTENSION) ? name.slice(0, -PREVIEW_WORK_EXTENSION.length) : name;

/** Returns the layout of the data folder `root` and the media folder. IDs are UUIDs, which are safe file names. */
export function getFolders(root: string, mediaDir: string = root, guard: FolderGuard = noFolderGuard) {
  const at = (...parts: string[]) => join(mediaDir, ...parts);
  return {
    /** The data folder: database, secrets, speech models. */
    root,
    /** The media folder, which contains all folders below. It is the data folder unless one is configured. */
    mediaDir,
    /** Monitors whether both are online. */
    guard,
    /** Returns the absolute path of a file by its path in a backup, such as `media/ID/source` or `secrets.json`. */
    resolve: (path: string) => join(isMediaPath(path) ? mediaDir : root, path),
    /** Returns the path in a backup of a file in one of the folders. */
    toRelative: (path: string) => {
      const inMedia = relative(mediaDir, path);
      return isMediaPath(inMedia) ? inMedia : relative(root, path);
    },
    uploads: at("uploads"),
    upload: (id: string) => at("uploads", id),
    mediaRoot: at("media"),
    media: (id: string) => getMediaFolder(at("media", id)),
    rendersRoot: at("renders"),
    render: (id: string) => at("renders", id),
    renderOutput: (id: string, extension: string) => at("renders", id, getRenderOutputName(extension)),
    workRoot: at("work"),
    /** The work folder of a job, kept between its attempts. */
    work: (id: string) => at("work", id),
    previewWork: (id: string) => at("work", getWorkName("preview", id)),
    exportsRoot: at("exports"),
    exportArchive: (id: string) => at("exports", `${id}.zip`),
    /** The archive while it is being written. */
    exportPart: (id: string) => at("exports", `${id}.part`),
    /** Removed files are moved here first, so that they disappear from their folders immediately. */
    trash: at("trash"),
  };
}

export type Folders = ReturnType<typeof getFolders>;

/** Returns whether a path in a backup belongs to the media folder. */
export const isMediaPath = (path: string): boolean =>
  MEDIA_FOLDERS.some((name) => path === name || path.startsWith(`${name}/`));

/** Creates the folders in the media folder, but not the media folder itself, which may be offline. */
export async function createMediaFolders({ mediaDir }: Pick<Folders, "mediaDir">): Promise<void> {
  for (const name of MEDIA_FOLDERS) await createFolder(join(mediaDir, name));
}

/** Creates a folder in an existing one, and flushes its name to disk. Ignores an existing one. */
export async function createFolder(path: string): Promise<void> {
  const isNew = await mkdir(path).then(() => true, ignoreCodes("EEXIST"));
  if (isNew) await flushFolder(dirname(path));
}
