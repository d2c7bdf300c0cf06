/** Media Source Extensions, and the variant in Safari on iPhones. */
import type { PlayableMedia, Variant } from "./engine";
import { type Track, TrackBuffer } from "./track-buffer";

/** Safari on iPhones requests data in intervals to save power. */
type ManagedSource = MediaSource & { streaming?: boolean };
type Global = { MediaSource?: typeof MediaSource; ManagedMediaSource?: typeof MediaSource };

const findConstructor = (): typeof MediaSource | undefined => {
  const { MediaSource: standard, ManagedMediaSource: managed } = globalThis as Global;
  return standard ?? managed;
};

const listTypes = ({ videoType, audioType }: PlayableMedia) =>
  [
    { track: "video" as const, type: videoType },
    { track: "audio" as const, type: audioType },
  ].filter((entry): entry is typeof entry & { type: string } => entry.type !== null);

/** Returns the tracks to play, in the order of the buffers. */
export const listTracks = (media: PlayableMedia): Track[] => listTypes(media).map(({ track }) => track);

/** Returns whether this browser can play pieces. */
export const hasMediaSource = (): boolean => findConstructor() !== undefined;

/** Returns whether pieces can be played without gaps. */
export function canSplice(media: PlayableMedia): boolean {
  const Source = findConstructor();
  const types = listTypes(media);
  return Source !== undefined && types.length > 0 && types.every(({ type }) => Source.isTypeSupported(type));
}

export type OpenedSource = { source: MediaSource; tracks: TrackBuffer[] };

/** Returns whether the browser wants data. */
export const isStreaming = (source: MediaSource): boolean => (source as ManagedSource).streaming !== false;

/** Connects a source to the element. Resolves when its buffers exist. Never resolves if the signal aborts first. */
export function openSource(
  video: HTMLVideoElement,
  media: PlayableMedia,
  variants: Readonly<Record<Track, Variant>>,
  signal: AbortSignal,
  onStreaming: () => void,
): Promise<OpenedSource> {
  const source = new (findConstructor()!)();
  const url = URL.createObjectURL(source);
  signal.addEventListener("abort", () => URL.revokeObjectURL(url), { once: true });
  const opened = new Promise<OpenedSource>((resolve, reject) => {
    const open = () => {
      URL.revokeObjectURL(url);
      try {
        const tracks = listTypes(media).map(({ track, type }) => {
          const first = variants[track] === "source" ? (media.sourceTypes[track] ?? type) : type;
          return new TrackBuffer(track, source.addSourceBuffer(first), first);
        });
        resolve({ source, tracks });
      } catch (error) {
        reject(error);
      }
    };
    source.addEventListener("sourceopen", open, { once: true, signal });
  });
  source.addEventListener("startstreaming", onStreaming, { signal });
  // Safari opens a managed source only if the element disables remote playback.
  video.disableRemotePlayback = true;
  video.src = url;
  return opened;
}
