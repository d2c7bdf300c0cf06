import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { formatDuration } from "../../app/format";
import { useGrowing } from "../../ui/row-list";
import { toSeconds } from "../model/plan";
import type { ReviewItem } from "../model/review-queue";
import { findWordsIn, type WordRange } from "../model/words";
import { getLook } from "../reasons";
import { useEditor } from "../state/context";
import { renderPiece, Section } from "../transcript/paragraph";
import {
  findParagraph,
  NO_MARKS,
  type ParagraphView,
  type ShownViews,
  splitParagraphs,
  toPieces,
  toViews,
} from "../transcript/paragraphs";
import { SECTION } from "../transcript/places";

/** Sections before and after the one of the card in the first frame, and in each later one. */
const NEAR = 1;
const MORE = 2;

type ReviewTextProps = { item: ReviewItem; children: ComponentChildren };

/** The transcript around a place, whose words are highlighted. The children lie under the line where it ends. */
export function ReviewText({ item, children }: ReviewTextProps) {
  const { editor } = useEditor();
  const { words } = editor;
  const texts = editor.texts.value;
  const plan = editor.plan.value;
  const scroller = useRef<HTMLDivElement>(null);
  const known = useRef<ShownViews | null>(null);
  const paragraphs = useMemo(() => splitParagraphs(words), [words]);
  const views = useMemo(() => {
    const next = toViews(words, texts, plan, paragraphs, known.current);
    known.current = { plan, texts, marks: NO_MARKS, views: next };
    return next;
  }, [words, texts, plan, paragraphs]);
  const place = findWordsIn(words, item);
  const count = Math.ceil(views.length / SECTION);
  const first = findParagraph(paragraphs, place.from);
  /** The paragraph with the card: that of the last word, or that of the word before a pause. */
  const last = findParagraph(paragraphs, Math.max(0, Math.max(place.from, place.to) - 1));
  const center = Math.floor(last / SECTION);
  const near = useGrowing(count, NEAR, MORE);
  useLayoutEffect(() => {
    const frame = requestAnimationFrame(() => {
      const card = scroller.current?.querySelector(".review-card");
      if (!card) return;
      // On phones, the card lies over the foot of the page.
      const isDocked = getComputedStyle(card).position === "fixed";
      const target = isDocked ? scroller.current!.querySelector(".review-words") : card;
      target?.scrollIntoView({ block: isDocked ? "start" : "center" });
    });
    return () => cancelAnimationFrame(frame);
  }, [item.id]);
  if (views.length === 0) return <div class="review-scroller">{children}</div>;
  return (
    <div class="review-scroller" ref={scroller}>
      <div class={`transcript-text review-text ${getLook(item) ?? "mark"}`}>
        {Array.from({ length: count }, (_, index) => {
          const from = index * SECTION;
          const shown = views.slice(from, from + SECTION);
          const hasItem = from <= last && from + SECTION > Math.min(first, last);
          if (!hasItem && Math.abs(index - center) > near)
            return <div key={from} class="transcript-section is-empty" style={{ "--paragraphs": shown.length }} />;
          if (!hasItem) return <Section key={from} first={from} views={shown} />;
          return (
            <div key={from} class="transcript-section has-card">
              {shown.map((view, at) => (
                <ItemParagraph key={view.from} view={view} place={place}>
                  {from + at === last && children}
                </ItemParagraph>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

type ItemParagraphProps = { view: ParagraphView; place: WordRange; children: ComponentChildren };

/** A paragraph that has words of the place, or lies beside them. */
function ItemParagraph({ view, place, children }: ItemParagraphProps) {
  const { editor } = useEditor();
  const time = formatDuration(Math.floor(toSeconds(view.start)));
  const from = Math.min(view.to, Math.max(view.from, place.from));
  const to = Math.min(view.to, Math.max(view.from, place.to));
  const divide = (range: WordRange) =>
    range.to <= range.from
      ? []
      : toViews(editor.words, editor.texts.value, editor.plan.value, [range], null).flatMap(toPieces);
  const [before, inside, after] = [
    divide({ from: view.from, to: from }),
    divide({ from, to }),
    divide({ from: to, to: view.to }),
  ];
  // The pause before the words is not a part of the place.
  const pause = inside[0]?.pause === undefined ? null : inside.shift()!;
  const hasGap = before.length > 0 && inside.length > 0;
  return (
    <div class="transcript-paragraph" dir="auto" data-time={time}>
      {before.map(renderPiece)}
      {hasGap && " "}
      {pause && renderPiece(pause)}
      {inside.length > 0 && (
        <mark class={children ? "review-words has-arrow" : "review-words"}>{inside.map(renderPiece)}</mark>
      )}
      {children && (
        <>
          {inside.length === 0 && <span class="review-words" />}
          <div class="review-place">{children}</div>
        </>
      )}
      {after.length > 0 && " "}
      {after.map(renderPiece)}
    </div>
  );
}
