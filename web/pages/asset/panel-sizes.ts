/** The panel sizes that the user chose in this browser. Narrow windows have their own. */
import { type Signal, signal } from "@preact/signals";
import { forget, recall, remember } from "../../app/memory";

/** In pixels; null uses the page's default. */
type Size = Signal<number | null>;

/** From this size on, the window shows all panels at once. The style sheet has the same limits. */
const query = matchMedia("(min-width: 1100px) and (min-height: 560px)");

/** Whether the panels are side by side. */
export const isWide = signal(query.matches);
query.addEventListener("change", () => {
  isWide.value = query.matches;
});

function createSize(name: string): Size {
  const key = `panel.${name}`;
  const size = signal(Number(recall(key)) || null);
  size.subscribe((pixels) => (pixels === null ? forget(key) : remember(key, String(pixels))));
  return size;
}

export const panelSizes = { waveHeight: createSize("wave-height"), sideWidth: createSize("column-width") };

/** Returns the chosen size, or undefined for the page's default. */
export const findSize = (size: Size): number | undefined => (isWide.value ? (size.value ?? undefined) : undefined);
