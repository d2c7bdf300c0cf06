/** Finds out which tracks of a source this browser can decode. */
import type { Track } from "./track-buffer";

/** A track of a source. `bitrate` is in bits per second. */
export type SourceTrack = {
  type: string;
  video?: { width: number; height: number; bitrate: number | null; frameRate: number };
  audio?: { channels: number; sampleRate: number };
};

const UNKNOWN_BITRATE_BPS = 10_000_000;

/** Returns the MIME types of the tracks; null for those that the browser cannot decode smoothly. */
export async function findDecodable(tracks: Record<Track, SourceTrack | null>): Promise<Record<Track, string | null>> {
  const [video, audio] = await Promise.all([findType(tracks.video), findType(tracks.audio)]);
  return { video, audio };
}

async function findType(track: SourceTrack | null): Promise<string | null> {
  if (track === null || typeof MediaSource === "undefined" || !MediaSource.isTypeSupported(track.type)) return null;
  const { type, video, audio } = track;
  const configuration: MediaDecodingConfiguration = {
    type: "media-source",
    ...(video && {
      video: {
        contentType: type,
        width: video.width,
        height: video.height,
        bitrate: video.bitrate ?? UNKNOWN_BITRATE_BPS,
        framerate: video.frameRate,
      },
    }),
    ...(audio && {
      audio: { contentType: type, channels: String(audio.channels), samplerate: audio.sampleRate },
    }),
  };
  // Without an answer, the type is supported.
  const found = await Promise.resolve(navigator.mediaCapabilities?.decodingInfo(configuration)).catch(() => undefined);
  return found === undefined || (found.supported && found.smooth) ? type : null;
}
