/** Colors of the timeline, from the design tokens. */
import type { RemovalReason } from "../model/plan";

export type Colors = {
  well: string;
  ground: string;
  line: string;
  text: string;
  soft: string;
  kept: string;
  brand: string;
  info: string;
  warning: string;
  playhead: string;
  reasons: Record<RemovalReason, string>;
  /** Family of the fonts. */
  family: string;
};

export function readColors(element: Element): Colors {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    well: read("--well"),
    ground: read("--ground"),
    line: read("--line"),
    text: read("--text"),
    soft: read("--text-3"),
    kept: read("--kept"),
    brand: read("--brand"),
    info: read("--info"),
    warning: read("--warn"),
    playhead: read("--playhead"),
    reasons: {
      silence: read("--pause"),
      filler: read("--filler"),
      retake: read("--retake"),
      off_script: read("--offscript"),
      noise: read("--noise"),
      manual: read("--byhand"),
    },
    family: read("--sans"),
  };
}
