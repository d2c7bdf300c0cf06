/** Mixes down tracks with discrete channels, as from multitrack recorders, for which ffmpeg has no matrix. Pure. */
import type { AudioStream } from "../../domain/media";

type MixdownTrack = Pick<AudioStream, "channels" | "discrete">;

/** The limit of the filters `pan` and `channelmap`, and of ffmpeg's resampler. */
export const MAX_CHANNELS = 64;

/**
 * Returns the filters that mix a discrete track to mono or stereo; none for a track that ffmpeg can mix by itself. Mono
 * is the sum of all channels at equal power, so that every speaker is audible on any channel, and silent channels cost
 * little. Stereo is the first two channels, where recorders put their mix.
 */
export function buildMixdownFilters(track: MixdownTrack, outputChannels: number): string[] {
  if (track.discrete !== true) return [];
  const channels = Math.min(MAX_CHANNELS, track.channels);
  // `pan` is not used: newer versions of ffmpeg reject it where it only reorders channels of an uncommon layout.
  if (channels < 2) return ["channelmap=0:mono"];
  if (outputChannels > 1) return ["channelmap=0|1:stereo"];
  const gain = (1 / Math.sqrt(channels)).toFixed(6);
  return [`pan=mono|c0=${Array.from({ length: channels }, (_, n) => `${gain}*c${n}`).join("+")}`];
}

/** Returns the number of channels to decode for speech recognition. Stereo is downmixed afterwards (`downmix.ts`). */
export const getAnalysisChannels = ({ channels, discrete }: MixdownTrack): 1 | 2 =>
  channels === 1 || (discrete === true && channels !== 2) ? 1 : 2;
