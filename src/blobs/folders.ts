/** Where bytes are, inside the data folder. One folder an upload, an asset, a render: nothing of two users is ever side by side. */
import { join } from "node:path";

export type MediaFolder = {
  dir: string;
  source: string;
  /** `Probed` as JSON. */
  probed: string;
  /** The audio that is transcribed, losslessly compressed; `rawAudio` is what older versions wrote in its place. */
  analysisAudio: string;
  rawAudio: string;
  /** The listening without its energy as JSON, and the energy; `rawEnergy` (32-bit floats) is what older versions wrote in its place. */
  listening: string;
  energy: string;
  rawEnergy: string;
  /** What speech recognition has done so far, while it is not complete. */
  listeningProgress: string;
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
  /** Scratch space of a job, kept between its attempts. */
  work(subjectId: string): string;
  /** What is about to be removed is moved here first, so that it is gone at once. */
  trash: string;
};

/** The layout below `root`. Ids are UUIDs: they are safe as names. */
export function getFolders(root: string): Folders {
  const at = (...parts: string[]) => join(root, ...parts);
  return {
    root,
    uploads: at("uploads"),
    upload: (id) => at("uploads", id),
    mediaRoot: at("media"),
    media: (id) => {
      const dir = at("media", id);
      return {
        dir,
        source: join(dir, "source"),
        probed: join(dir, "probed.json"),
        analysisAudio: join(dir, "analysis.audio"),
        rawAudio: join(dir, "speech.pcm"),
        listening: join(dir, "listening.json"),
        energy: join(dir, "energy.steps"),
        rawEnergy: join(dir, "energy.f32"),
        listeningProgress: join(dir, "listening.progress"),
        transcript: join(dir, "transcript.json"),
        waveform: join(dir, "waveform.json"),
        poster: join(dir, "poster.jpg"),
        filmstrip: join(dir, "filmstrip.jpg"),
        preview: join(dir, "preview.mp4"),
      };
    },
    rendersRoot: at("renders"),
    render: (id) => at("renders", id),
    renderOutput: (id, extension) => at("renders", id, `output.${extension}`),
    workRoot: at("work"),
    work: (id) => at("work", id),
    trash: at("trash"),
  };
}
