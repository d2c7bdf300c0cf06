/** Positions of the timeline's lanes, in CSS pixels from the top. Pure. */

export type Lane = { top: number; height: number };
export type Lanes = {
  ruler: Lane;
  storyboard: Lane | null;
  waveform: Lane;
  differences: Lane | null;
  height: number;
};

const RULER_HEIGHT = 24;
const STORYBOARD_HEIGHT = 44;
/** Pictures are shown only where the audio keeps enough room. */
const MIN_HEIGHT_WITH_STORYBOARD = 200;
/** Without audio, the pictures are the only content. They have this height. */
const MAX_STORYBOARD_HEIGHT = 90;
const DIFFERENCES_HEIGHT = 14;
const MIN_WAVEFORM_HEIGHT = 20;

type LanesOptions = { hasStoryboard: boolean; hasAudio: boolean; hasDifferences: boolean; height: number };

export function layOutLanes({ hasStoryboard, hasAudio, hasDifferences, height }: LanesOptions): Lanes {
  let top = 0;
  const take = (size: number): Lane => {
    const lane = { top, height: size };
    top += size;
    return lane;
  };
  const ruler = take(RULER_HEIGHT);
  const differencesHeight = hasDifferences ? DIFFERENCES_HEIGHT : 0;
  const room = height - top - differencesHeight - MIN_WAVEFORM_HEIGHT;
  const hasRoom = hasAudio ? height > MIN_HEIGHT_WITH_STORYBOARD : room >= MIN_WAVEFORM_HEIGHT;
  const pictures = hasAudio ? STORYBOARD_HEIGHT : Math.min(MAX_STORYBOARD_HEIGHT, room);
  const storyboard = hasStoryboard && hasRoom ? take(pictures) : null;
  const waveform = take(Math.max(MIN_WAVEFORM_HEIGHT, height - top - differencesHeight));
  const differences = hasDifferences ? take(DIFFERENCES_HEIGHT) : null;
  return { ruler, storyboard, waveform, differences, height: top };
}
