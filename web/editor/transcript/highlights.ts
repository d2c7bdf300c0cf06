/**
 * Highlights text without extra elements: with CSS highlights, or with boxes behind the text in browsers without them.
 */

export type HighlightName = "played" | "found" | "selected";

const PRIORITY: Record<HighlightName, number> = { found: 1, selected: 2, played: 3 };
/** Maximum number of boxes, because each is positioned individually. */
const MAX_BOXES = 200;

const isSupported = (): boolean => typeof Highlight === "function" && "highlights" in CSS;

/** Replaces the highlights of one kind. `layer` contains the boxes and is aligned with the top left of the text. */
export function showHighlights(name: HighlightName, ranges: readonly Range[], layer: HTMLElement | null): void {
  if (!isSupported()) {
    showBoxes(name, ranges, layer);
    return;
  }
  const key = `transcript-${name}`;
  if (ranges.length === 0) {
    CSS.highlights.delete(key);
    return;
  }
  const highlight = new Highlight(...ranges);
  highlight.priority = PRIORITY[name];
  CSS.highlights.set(key, highlight);
}

/** Removes all marks. CSS highlights belong to the document and outlive the transcript. */
export function clearHighlights(): void {
  if (!isSupported()) return;
  for (const name of Object.keys(PRIORITY)) CSS.highlights.delete(`transcript-${name}`);
}

function showBoxes(name: HighlightName, ranges: readonly Range[], layer: HTMLElement | null): void {
  if (!layer) return;
  for (const old of layer.querySelectorAll(`.${name}`)) old.remove();
  const origin = layer.getBoundingClientRect();
  const rects = ranges.slice(0, MAX_BOXES).flatMap((range) => [...range.getClientRects()]);
  layer.append(
    ...rects.slice(0, MAX_BOXES).map((rect) => {
      const box = document.createElement("span");
      box.className = `highlight-box ${name}`;
      box.style.left = `${rect.left - origin.left}px`;
      box.style.top = `${rect.top - origin.top}px`;
      box.style.width = `${rect.width}px`;
      box.style.height = `${rect.height}px`;
      return box;
    }),
  );
}
