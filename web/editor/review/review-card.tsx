import { useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { findAction, formatKeys } from "../../app/actions";
import { formatConfidence } from "../../app/format";
import { ActionButton, Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { isMostlyRemoved } from "../model/plan";
import { CONTEXT, type ReviewItem } from "../model/review-queue";
import { findWordsIn } from "../model/words";
import { describeRule, getLook, measureRange, REASON_ICONS, titleItem } from "../reasons";
import { useEditor } from "../state/context";
import type { Editor } from "../state/editor-state";
import { findPeak } from "../timeline/peaks";
import { useCanvas } from "../timeline/use-canvas";
import type { ReviewSession } from "./review-session";
import { ReviewText } from "./review-text";

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
      {describeRule(item.rule)} Now: <strong>{isRemoved ? "removed" : "kept"}</strong>.{" "}
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

const WAVE_HEIGHT = 60;

/** The audio around a place, with the playhead. */
function ReviewWave({ item }: { item: ReviewItem }) {
  const { playback, strip } = useEditor();
  const { waveform } = strip;
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLSpanElement>(null);
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  const start = item.start - CONTEXT;
  const length = item.end - item.start + 2 * CONTEXT;
  useCanvas(canvas, () => ({
    width: box?.clientWidth ?? 0,
    height: WAVE_HEIGHT,
    draw: (context, colors) => {
      const width = box!.clientWidth;
      context.clearRect(0, 0, width, WAVE_HEIGHT);
      const look = getLook(item);
      const color = look === null ? colors.warning : colors.reasons[look];
      const toX = (time: number) => ((time - start) / length) * width;
      context.globalAlpha = 0.16;
      context.fillStyle = color;
      context.fillRect(toX(item.start), 0, toX(item.end) - toX(item.start), WAVE_HEIGHT);
      context.globalAlpha = 1;
      if (waveform === null) return;
      for (let x = 0; x < width; x++) {
        const time = start + (x / width) * length;
        const peak = findPeak(waveform, time, time + length / width);
        const half = Math.max(0.5, (peak * (WAVE_HEIGHT - 8)) / 2);
        context.fillStyle = time >= item.start && time < item.end ? color : colors.kept;
        context.fillRect(x, WAVE_HEIGHT / 2 - half, 1, 2 * half);
      }
    },
  }));
  useSignalEffect(() => {
    const share = (playback.playhead.value - start) / length;
    if (!line.current) return;
    line.current.hidden = share < 0 || share > 1;
    line.current.style.left = `${share * 100}%`;
  });
  const isPlaying = playback.isPlaying.value;
  return (
    <div class="review-sound">
      <ActionButton name="review.again" icon={isPlaying ? "pause" : "play"} disabled={!playback.isReady.value} />
      <div class="review-wave" ref={setBox}>
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas takes no focus. */}
        <canvas ref={canvas} aria-hidden="true" />
        <span class="review-playhead" ref={line} />
      </div>
    </div>
  );
}

/** Minimum movement of a swipe in pixels. A shorter touch presses the element under it. */
const MIN_MOVE = 10;
/** A touch that moves farther than this decides. */
const MIN_SWIPE = 80;

type Touch = { id: number; x: number; y: number; isSwipe: boolean };

/** Returns the handlers of an element that moves along with a finger. `onSwipe` gets whether it went to the right. */
function useSwipe(onSwipe: ((isRight: boolean) => void) | null) {
  const touch = useRef<Touch | null>(null);
  if (onSwipe === null) return {};
  const show = (element: HTMLElement, by: number) => {
    element.style.translate = by === 0 ? "" : `${by}px 0`;
    if (Math.abs(by) < MIN_SWIPE) delete element.dataset.swipe;
    else element.dataset.swipe = by > 0 ? "keep" : "remove";
  };
  const end = (event: PointerEvent) => {
    const held = touch.current;
    if (held?.id !== event.pointerId) return;
    touch.current = null;
    show(event.currentTarget as HTMLElement, 0);
    const by = event.clientX - held.x;
    if (held.isSwipe && event.type === "pointerup" && Math.abs(by) >= MIN_SWIPE) onSwipe(by > 0);
  };
  return {
    onPointerDown: ({ pointerType, isPrimary, pointerId, clientX, clientY }: PointerEvent) => {
      if (pointerType === "touch" && isPrimary)
        touch.current = { id: pointerId, x: clientX, y: clientY, isSwipe: false };
    },
    onPointerMove: (event: PointerEvent) => {
      const held = touch.current;
      if (held?.id !== event.pointerId) return;
      const element = event.currentTarget as HTMLElement;
      const [x, y] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.isSwipe && Math.hypot(x, y) >= MIN_MOVE) {
        // A finger that goes up or down scrolls.
        if (Math.abs(y) > Math.abs(x)) touch.current = null;
        else {
          held.isSwipe = true;
          // The buttons on the way are not pressed.
          element.setPointerCapture(event.pointerId);
        }
      }
      if (held.isSwipe) show(element, x);
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}
