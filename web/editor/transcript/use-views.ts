import { useMemo, useRef } from "preact/hooks";
import { useGrowing } from "../../ui/row-list";
import type { EditorPlan } from "../model/plan";
import type { Words } from "../model/words";
import { type ParagraphView, type ShownViews, splitParagraphs, toViews } from "./paragraphs";

/** Number of paragraphs in the first frame, and in each later one. */
const FIRST = 12;
const MORE = 72;

/** Returns the content of the paragraphs: the first screen immediately, the rest frame by frame. */
export function useViews(
  words: Words,
  texts: readonly string[],
  plan: EditorPlan,
  hasPauses: boolean,
): readonly ParagraphView[] {
  const previous = useRef<ShownViews | null>(null);
  const hadPauses = useRef(hasPauses);
  const paragraphs = useMemo(() => splitParagraphs(words), [words]);
  const shown = useGrowing(paragraphs.length, FIRST, MORE);
  return useMemo(() => {
    const known = hadPauses.current === hasPauses ? previous.current : null;
    hadPauses.current = hasPauses;
    const views = toViews(words, texts, plan, paragraphs.slice(0, shown), known, hasPauses);
    previous.current = { plan, texts, views };
    return views;
  }, [words, texts, plan, paragraphs, shown, hasPauses]);
}
