import { useLayoutEffect, useRef } from "preact/hooks";
import { findAction, formatKeys } from "../../app/actions";
import { formatConfidence } from "../../app/format";
import { ActionButton, Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { isMostlyRemoved } from "../model/plan";
import type { ReviewItem } from "../model/review-queue";
import { findWordsIn } from "../model/words";
import { getLook, REASON_ICONS } from "../reasons";
import { useEditor } from "../state/context";
import type { Editor } from "../state/editor-state";
import { explainItem, measureRange, titleItem } from "./item-texts";
import type { ReviewSession } from "./review-session";
import { ReviewText } from "./review-text";
import { ReviewWave } from "./review-wave";
import { useSwipe } from "./use-swipe";

/** The card of the current place, under its words in the transcript. The text around it is dimmed. */
export function ReviewCard({ review }: { review: ReviewSession }) {
  const item = review.current.value!;
  return (
    <>
      <ReviewText item={item}>
        <Card key={item.id} review={review} item={item} />
      </ReviewText>
      <footer class="review-hints">
        {review.hasHints.value &&
          HINTS.map(([keys, label]) => (
            <span key={keys}>
              <kbd>{formatKeys(keys)}</kbd> {label}
            </span>
          ))}
        <Button
          look="quiet"
          class="icon-only"
          aria-label="Review keys"
          aria-expanded={review.hasHints.value}
          onClick={() => {
            review.hasHints.value = !review.hasHints.value;
          }}
        >
          ?
        </Button>
      </footer>
    </>
  );
}

type CardProps = { review: ReviewSession; item: ReviewItem };

function Card({ review, item }: CardProps) {
  const { editor } = useEditor();
  const heading = useRef<HTMLHeadingElement>(null);
  const look = getLook(item);
  const swipe = useSwipe(editor.canEdit ? (isRight) => review.decide(isRight ? "kept" : "removed") : null);
  // Keys stay with the card, and screen readers read its heading. Playback goes first: the focus needs the layout of
  // the page.
  useLayoutEffect(() => {
    const frame = requestAnimationFrame(() => {
      const active = document.activeElement;
      const isTyping = active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement;
      if (!isTyping) heading.current?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <section class={`review-card ${look ?? "mark"}`} aria-label="Place to review" {...swipe}>
      <header>
        <Icon name={look === null ? "mark" : REASON_ICONS[look]} />
        <h3 ref={heading} tabIndex={-1}>
          {titleItem(item)}
          <span class="visually-hidden">: {describeWords(editor, item)}</span>
        </h3>
        <span class="soft number">{measureRange(editor, item)}</span>
        <span class="spacer" />
        {item.confidence !== null && <Confidence value={item.confidence} />}
      </header>
      <Explanation editor={editor} item={item} />
      <ReviewWave item={item} />
      <Versions review={review} />
      {editor.canEdit && <Decisions item={item} />}
    </section>
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
    <meter min={0} max={100} value={Math.round(value * 100)} aria-label="Confidence" /> {formatConfidence(value)} sure
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

/** The first key of an action, for its button. */
export function ActionKey({ name }: { name: string }) {
  const key = findAction(name)?.keys[0];
  if (key === undefined) return null;
  return (
    <>
      {" "}
      <span class="key">{formatKeys(key)}</span>
    </>
  );
}

/** The suggested decision is the primary one. */
function Decisions({ item }: { item: ReviewItem }) {
  return (
    <div class="review-decisions">
      <ActionButton
        name="review.keep"
        look={item.isSuggestedRemoval ? "default" : "primary"}
        after={<ActionKey name="review.keep" />}
      />
      <ActionButton
        name="review.remove"
        look={item.isSuggestedRemoval ? "primary" : "default"}
        after={<ActionKey name="review.remove" />}
      />
    </div>
  );
}
