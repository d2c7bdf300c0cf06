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
const DIFFERENCES_HEIGHT = 14;

type LanesOptions = { hasStoryboard: boolean; hasDifferences: boolean; height: number };

export function layOutLanes({ hasStoryboard, hasDifferences, height }: LanesOptions): Lanes {
  let top = 0;
  const take = (size: number): Lane => {
    const lane = { top, height: size };
    top += size;
    return lane;
  };
  const ruler = take(RULER_HEIGHT);
  const storyboard = hasStoryboard && height > MIN_HEIGHT_WITH_STORYBOARD ? take(STORYBOARD_HEIGHT) : null;
  const differencesHeight = hasDifferences ? DIFFERENCES_HEIGHT : 0;
  const waveform = take(Math.max(20, height - top - differencesHeight));
  const differences = hasDifferences ? take(DIFFERENCES_HEIGHT) : null;
  return { ruler, storyboard, waveform, differences, height: top };
}
