/** The layout of the data folder. Each upload, asset and render has its own folder, so that files of two users never share one. */
import { join } from "node:path";

/** Absolute paths of an asset's files. */
export type MediaFolder = {
  dir: string;
  source: string;
  /** `Probed` as JSON. */
  probed: string;
  /** The audio that is transcribed, losslessly compressed. Older versions wrote `rawAudio` instead. */
  analysisAudio: string;
  rawAudio: string;
  /** `SpeechAnalysis` as JSON, without its energy contour. */
  speechAnalysis: string;
  /** The energy contour. Older versions wrote `rawEnergy` instead, as 32-bit floats. */
  energy: string;
  rawEnergy: string;
  transcript: string;
  waveform: string;
  poster: string;
  filmstrip: string;
  preview: string;
};

export type Folders = {
  root: string;
  uploads: string;
  upload(assetId: string): string;
  mediaRoot: string;
  media(assetId: string): MediaFolder;
  rendersRoot: string;
  render(renderId: string): string;
  renderOutput(renderId: string, extension: string): string;
  workRoot: string;
  /** The work folder of a job, kept between its attempts. */
  work(subjectId: string): string;
  /** Removed files are moved here first, so that they disappear from their folders immediately. */
  trash: string;
};

/** Returns the paths of an asset's files in `dir`. */
export function getMediaFolder(dir: string): MediaFolder {
  return {
    dir,
    source: join(dir, "source"),
    probed: join(dir, "probed.json"),
    analysisAudio: join(dir, "analysis.audio"),
    rawAudio: join(dir, "speech.pcm"),
    speechAnalysis: join(dir, "listening.json"),
    energy: join(dir, "energy.steps"),
    rawEnergy: join(dir, "energy.f32"),
    transcript: join(dir, "transcript.json"),
    waveform: join(dir, "waveform.json"),
    poster: join(dir, "poster.jpg"),
    filmstrip: join(dir, "filmstrip.jpg"),
    preview: join(dir, "preview.mp4"),
  };
}

/** Returns the file name of a finished render. */
export const getRenderOutputName = (extension: string): string => `output.${extension}`;

/** Returns the layout below `root`. IDs are UUIDs, which are safe as file names. */
export function getFolders(root: string): Folders {
  const at = (...parts: string[]) => join(root, ...parts);
  return {
    root,
    uploads: at("uploads"),
    upload: (id) => at("uploads", id),
    mediaRoot: at("media"),
    media: (id) => getMediaFolder(at("media", id)),
    rendersRoot: at("renders"),
    render: (id) => at("renders", id),
    renderOutput: (id, extension) => at("renders", id, getRenderOutputName(extension)),
    workRoot: at("work"),
    work: (id) => at("work", id),
    trash: at("trash"),
  };
}
