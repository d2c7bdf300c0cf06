/** Positions of the timeline's lanes, in CSS pixels from the top. Pure. */

export type Lane = { top: number; height: number };
export type Lanes = {
  ruler: Lane;
  storyboard: Lane | null;
  waveform: Lane;
  spans: Lane;
  words: Lane;
  differences: Lane | null;
  height: number;
};

export const WAVEFORM_HEIGHT = 80;

type LanesOptions = { hasStoryboard: boolean; hasDifferences: boolean; waveformHeight?: number };

export function layOutLanes({ hasStoryboard, hasDifferences, waveformHeight = WAVEFORM_HEIGHT }: LanesOptions): Lanes {
  let top = 0;
  const take = (height: number): Lane => {
    const lane = { top, height };
    top += height;
    return lane;
  };
  const ruler = take(24);
  const storyboard = hasStoryboard ? take(54) : null;
  const waveform = take(waveformHeight);
  const spans = take(10);
  const differences = hasDifferences ? take(14) : null;
  const words = take(20);
  return { ruler, storyboard, waveform, spans, differences, words, height: top };
}
