/** Colors of the timeline, from the design tokens. */
import type { RemovalReason } from "../model/plan";

export type Colors = {
  surface: string;
  sunken: string;
  line: string;
  text: string;
  soft: string;
  kept: string;
  warning: string;
  accent: string;
  info: string;
  selection: string;
  focus: string;
  reasons: Record<RemovalReason, string>;
  font: string;
};

export function readColors(element: Element): Colors {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    surface: read("--surface-raised"),
    sunken: read("--surface-sunken"),
    line: read("--line-soft"),
    text: read("--text"),
    soft: read("--text-soft"),
    kept: read("--kept"),
    warning: read("--warning"),
    accent: read("--accent"),
    info: read("--info"),
    selection: read("--selection"),
    focus: read("--focus"),
    reasons: {
      silence: read("--reason-silence"),
      filler: read("--reason-filler"),
      retake: read("--reason-retake"),
      off_script: read("--reason-off-script"),
      noise: read("--reason-noise"),
      manual: read("--reason-manual"),
    },
    font: `11px ${read("--font")}`,
  };
}
