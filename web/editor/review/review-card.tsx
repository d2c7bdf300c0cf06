import { useLayoutEffect, useRef } from "preact/hooks";
import { formatKeys } from "../../app/actions";
import { Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { isMostlyRemoved, type ReviewItem } from "../model/review-queue";
import { findWordsIn } from "../model/words";
import { REASON_ICONS } from "../reasons";
import { useEditor } from "../state/context";
import type { Editor } from "../state/editor-state";
import { splitParagraphs, toPieces, toViews } from "../transcript/paragraphs";
import { explainItem, measureRange, titleItem } from "./item-texts";
import type { ReviewSession } from "./review-session";
import { ReviewWave } from "./review-wave";

/** The card of the current place, under its words. The text around it is dimmed. */
export function ReviewCard({ review }: { review: ReviewSession }) {
  const { editor } = useEditor();
  const item = review.current.value!;
  const scroller = useRef<HTMLDivElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  // A layout effect runs before the next key press. Keys stay with the card, and screen readers read its heading.
  useLayoutEffect(() => {
    const active = document.activeElement;
    const isTyping = active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement;
    if (!isTyping) heading.current?.focus({ preventScroll: true });
    scroller.current?.querySelector(".review-card")?.scrollIntoView({ block: "center" });
  }, [item.id]);
  return (
    <>
      <div class="review-scroller" ref={scroller}>
        <Around editor={editor} item={item} side="before" />
        <section class={`review-card ${item.reason ?? "mark"}`} aria-label="Place to review">
          <header>
            <Icon name={item.reason === null ? "mark" : REASON_ICONS[item.reason]} />
            <h3 ref={heading} tabIndex={-1}>
              {titleItem(item)}
              <span class="visually-hidden">: {describeWords(editor, item)}</span>
            </h3>
            <span class="soft number">{measureRange(editor, item)}</span>
            <span class="spacer" />
            {item.confidence !== null && <Confidence value={item.confidence} />}
          </header>
          <Explanation editor={editor} item={item} />
          <ReviewWave review={review} item={item} />
          <Versions review={review} />
          {editor.canEdit && <Decisions review={review} item={item} />}
        </section>
        <Around editor={editor} item={item} side="after" />
      </div>
      <footer class="review-hints" aria-hidden="true">
        {HINTS.map(([keys, label]) => (
          <span key={keys}>
            <kbd>{formatKeys(keys)}</kbd> {label}
          </span>
        ))}
      </footer>
    </>
  );
}

const HINTS = [
  ["Enter", "Keep"],
  ["Backspace", "Remove"],
  ["Space", "Again"],
  ["c", "With, without"],
  ["n", "Skip"],
] as const;

export const Confidence = ({ value }: { value: number }) => (
  <span class="confidence number">
    <meter min={0} max={100} value={Math.round(value * 100)} aria-label="Confidence" /> {Math.round(value * 100)} % sure
  </span>
);

function describeWords(editor: Editor, item: ReviewItem): string {
  const { from, to } = findWordsIn(editor.words, item);
  return editor.texts.value.slice(from, to).filter(Boolean).join(" ") || "no words";
}

function Explanation({ editor, item }: { editor: Editor; item: ReviewItem }) {
  const isRemoved = isMostlyRemoved(editor.plan.value, item);
  return (
    <p class="review-reason">
      {explainItem(item)} Now: <strong>{isRemoved ? "removed" : "kept"}</strong>.{" "}
      {item.isSuggestedRemoval && !isRemoved && "Offcut would remove it."}
      {!item.isSuggestedRemoval && isRemoved && "Offcut would keep it."}
    </p>
  );
}

function Versions({ review }: { review: ReviewSession }) {
  const isWithout = review.isWithout.value;
  return (
    <div class="toolbar review-versions">
      <Button look="quiet" aria-pressed={!isWithout} onClick={() => review.play(false)}>
        With it
      </Button>
      <Button look="quiet" aria-pressed={isWithout} onClick={() => review.play(true)}>
        Without it
      </Button>
      <span class="spacer" />
      <span class="soft">1 s before and after</span>
    </div>
  );
}

/** The suggested decision is the primary one. */
function Decisions({ review, item }: { review: ReviewSession; item: ReviewItem }) {
  return (
    <div class="review-decisions">
      <Button look={item.isSuggestedRemoval ? "default" : "primary"} onClick={() => review.decide("kept")}>
        Keep <span class="key">⏎</span>
      </Button>
      <Button look={item.isSuggestedRemoval ? "primary" : "default"} onClick={() => review.decide("removed")}>
        Remove <span class="key">⌫</span>
      </Button>
    </div>
  );
}

/** Number of words before and after the item. */
const CONTEXT_WORDS = 60;

type AroundProps = { editor: Editor; item: ReviewItem; side: "before" | "after" };

/** The text up to the end of the item, or after it. */
function Around({ editor, item, side }: AroundProps) {
  const { words } = editor;
  const place = findWordsIn(words, item);
  const count = words.text.length;
  const range =
    side === "before"
      ? { from: Math.max(0, place.from - CONTEXT_WORDS), to: place.to }
      : { from: place.to, to: Math.min(count, place.to + CONTEXT_WORDS) };
  if (range.to <= range.from) return null;
  const parts = splitParagraphs(words)
    .map(({ from, to }) => ({ from: Math.max(from, range.from), to: Math.min(to, range.to) }))
    .filter(({ from, to }) => to > from);
  // The item is a paragraph of its own, so that its runs end with it.
  const divided = parts.flatMap(({ from, to }) =>
    place.from > from && place.from < to
      ? [
          { from, to: place.from },
          { from: place.from, to },
        ]
      : [{ from, to }],
  );
  const views = toViews(words, editor.texts.value, editor.plan.value, divided, null);
  return (
    <div class="review-around" dir="auto">
      {views.map((view) => {
        const isItem = view.from >= place.from && view.to <= place.to;
        const text = toPieces(view).map(({ text, run }, index) =>
          run?.reason ? (
            <s key={index} class={run.reason}>
              {text}
            </s>
          ) : (
            text
          ),
        );
        return isItem ? (
          <mark key={view.from} class="review-words">
            {text}
          </mark>
        ) : (
          <span key={view.from}>{text} </span>
        );
      })}
    </div>
  );
}
