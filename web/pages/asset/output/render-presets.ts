/** Settings of renders with a name: a few that everybody has, and the user's own in this browser. */
import { recall } from "../../../app/memory";
import { createSetting } from "../../../app/settings";
import { AS_RECORDED, hasAudio, listFormats, type RenderChoice, type RenderedAsset } from "./render-choices";

export type RenderPreset = { name: string; choice: RenderChoice };

/** The choice that keeps everything as in the recording. */
export const DEFAULT_CHOICE: Omit<RenderChoice, "format"> = {
  ...{ resolution: "", frameRate: "", videoBitrate: "", audioBitrate: "" },
  ...{ loudness: "", noiseReduction: "", speakerLevels: "" },
};

export const PRESETS: readonly RenderPreset[] = [
  { name: AS_RECORDED, choice: { ...DEFAULT_CHOICE, format: "mp4" } },
  { name: "YouTube", choice: { ...DEFAULT_CHOICE, format: "mp4", loudness: "-14" } },
  { name: "Podcast", choice: { ...DEFAULT_CHOICE, format: "mp3", audioBitrate: "128", loudness: "-16" } },
  { name: "Small file", choice: { ...DEFAULT_CHOICE, format: "mp4", resolution: "720p", audioBitrate: "96" } },
  { name: "Broadcast", choice: { ...DEFAULT_CHOICE, format: "mov", loudness: "-23" } },
];

const MAX_OWN = 12;

function readPresets(stored: unknown): readonly RenderPreset[] {
  const isPreset = ({ name, choice }: RenderPreset) => typeof name === "string" && typeof choice?.format === "string";
  // Those of an older version lack settings.
  return (stored as RenderPreset[])
    .filter(isPreset)
    .map(({ name, choice }) => ({ name, choice: { ...DEFAULT_CHOICE, ...choice } }));
}

/** Earlier versions stored the presets of all users of the browser together. */
function readShared(): readonly RenderPreset[] {
  try {
    return readPresets(JSON.parse(recall("render-presets") ?? "[]"));
  } catch {
    return [];
  }
}

export const ownPresets = createSetting("render-presets", readShared(), readPresets);

const store = (presets: readonly RenderPreset[]): void => {
  ownPresets.value = presets;
};

/** Saves the settings under a name, in place of those with the same name. */
export const savePreset = (name: string, choice: RenderChoice): void =>
  store([...ownPresets.peek().filter((one) => one.name !== name), { name, choice }].slice(-MAX_OWN));

/** Returns whether a name belongs to a built-in preset. */
export const isTaken = (name: string): boolean => PRESETS.some((one) => one.name === name);

export const deletePreset = (name: string): void => store(ownPresets.peek().filter((one) => one.name !== name));

/** Lists the presets that a recording can have. */
export function listPresets(asset: RenderedAsset, own: readonly RenderPreset[]): RenderPreset[] {
  const formats = listFormats(asset).map(({ value }) => value);
  const side = Math.min(asset.width ?? 0, asset.height ?? 0);
  const isPossible = ({ choice }: RenderPreset) =>
    formats.includes(choice.format) &&
    (choice.loudness === "" || hasAudio(asset)) &&
    (choice.resolution === "" || Number.parseInt(choice.resolution, 10) < side);
  // Without video, the first one is an audio file.
  const [first, ...rest] = PRESETS;
  const asRecorded = { ...first!, choice: { ...first!.choice, format: formats[0] ?? "mp4" } };
  return [asRecorded, ...rest, ...own].filter(isPossible);
}

export const isSameChoice = (a: RenderChoice, b: RenderChoice): boolean =>
  (Object.keys(a) as (keyof RenderChoice)[]).every((key) => a[key] === b[key]);
