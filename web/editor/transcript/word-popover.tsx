import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ActionButton, Button } from "../../ui/button";
import { prefersCalm } from "../../ui/glide";
import { Icon } from "../../ui/icon";
import { fromSeconds, measureKept, type RemovedSpan, restoreRange, toSeconds } from "../model/plan";
import { countReasons, setPause } from "../model/reason-edits";
import { findContext } from "../model/review-queue";
import { findWordsIn, type WordRange } from "../model/words";
import { describeRule, measureRange, REASON_ICONS, REASON_NAMES, titleSpan } from "../reasons";
import { ActionKey, Confidence } from "../review/review-card";
import { useEditor } from "../state/context";
import { joinTexts } from "./paragraphs";
import { findView } from "./use-follow";

type PopoverProps = {
  range: WordRange;
  /** Position in the scrolled text, in pixels. */
  left: number;
  top: number;
  /** Where its words begin in the scrolled text, in pixels. */
  start: number;
  /** Whether the keyboard opened it, so that the focus moves into it. */
  takesFocus: boolean;
  /** Whether it was opened in the text, so that the page scrolls to it. */
  isFromText: boolean;
  pauseBefore: number | null;
  onCorrect(range: WordRange): void;
  onClose(): void;
};

/** Explains a removed word, or offers the actions for a selection. */
export function WordPopover(props: PopoverProps) {
  const { range, left, top, start, takesFocus, isFromText, pauseBefore, onCorrect, onClose } = props;
  const { editor } = useEditor();
  const box = useRef<HTMLDivElement>(null);
  const span = editor.span.value;
  /** Whether it is for a pause, not for a longer removal around it. */
  const isPause = pauseBefore !== null && (span === null || span.reason === "silence");
  useLayoutEffect(() => {
    // The selection can be gone before the popover is drawn.
    const element = box.current;
    if (!element) return;
    if (takesFocus) element.querySelector<HTMLElement>("input, button:enabled")?.focus();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const isAboveDock = getComputedStyle(element).position === "fixed";
    if (isAboveDock && isFromText) uncoverWord(element, top);
    if (!isAboveDock) placeBeside(element, top - start);
  }, [top, start]);
  const isGone = pauseBefore === null && editor.range.value === null;
  useLayoutEffect(() => {
    if (isGone) onClose();
  }, [isGone]);
  const hadFocus = box.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    // An edit has taken the focused control away.
    if (hadFocus && document.activeElement === document.body) onClose();
  });
  if (isGone) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div
      ref={box}
      class="word-popover"
      role="group"
      aria-label={isPause ? "Pause" : span !== null ? "Removed words" : "Selected text"}
      style={{ "--left": `${left}px`, "--top": `${top}px`, "--start": `${start}px` }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      {span !== null && <Removed span={span} onClose={onClose} />}
      {span === null && !isPause && <Selected range={range} onCorrect={onCorrect} onClose={onClose} />}
      {isPause && (
        <PauseLength key={String(span !== null)} before={pauseBefore} isRemoved={span !== null} onClose={onClose} />
      )}
    </div>
  );
}

/**
 * Moves the popover above its words if the view ends below them: scrolling would put something else below the pointer,
 * which a second click would hit. Scrolls if the view is too low. `height` is that of the words.
 */
function placeBeside(box: HTMLElement, height: number): void {
  box.classList.remove("is-above");
  const view = findView(box.parentElement!);
  const below = box.getBoundingClientRect();
  const above = below.top - height - below.height - GAP;
  if (below.bottom > view.bottom && above >= view.top) box.classList.add("is-above");
  else box.scrollIntoView({ block: "nearest" });
}

/** Space in pixels between the word and the popover, and the height that the word needs above that. */
const GAP = 12;
const LINE = 32;

/**
 * On a phone, the popover is above the dock: scrolls the word above it. `top` is where the word ends in the text. A
 * popover that leaves no room for the word becomes lower.
 */
function uncoverWord(box: HTMLElement, top: number): void {
  const text = box.parentElement!;
  const start = text.getBoundingClientRect();
  const { right, bottom } = box.getBoundingClientRect();
  // Beside the text.
  if (right <= start.left) return;
  box.style.maxHeight = `max(8rem, ${bottom - findView(text).top - LINE - GAP}px)`;
  const covered = start.top + top + GAP - box.getBoundingClientRect().top;
  if (covered > 0) scrollBy({ top: covered, behavior: prefersCalm() ? "instant" : "smooth" });
}

function Removed({ span, onClose }: { span: RemovedSpan; onClose(): void }) {
  const { editor, playback } = useEditor();
  const plan = editor.plan.value;
  const { reason, confidence } = span;
  const count = countReasons(plan).get(reason)?.count ?? 1;
  const play = (isWith: boolean) => {
    const varied = isWith ? restoreRange(plan, span) : plan;
    playback.playPart(varied, findContext(varied, span));
  };
  const { title, isWhole } = titleSpan(editor, span);
  const isReady = playback.isReady.value;
  return (
    <>
      <header class={reason}>
        <Icon name={REASON_ICONS[reason]} />
        <strong dir="auto">{title}</strong>
        <span class="soft number">{measureRange(editor, span)}</span>
        <span class="spacer" />
        {confidence !== null && <Confidence value={confidence} />}
      </header>
      {describeRule(span.rule) !== null && <p class="soft">{describeRule(span.rule)}</p>}
      {!isWhole && <p dir="auto">{joinTexts(editor.texts.value, findWordsIn(editor.words, span))}</p>}
      <div class="toolbar">
        <Button icon="play" disabled={!isReady} onClick={() => play(false)}>
          As cut
        </Button>
        <Button icon="play" disabled={!isReady} onClick={() => play(true)}>
          With it
        </Button>
      </div>
      {editor.canEdit && (
        <div class="toolbar">
          <ActionButton
            name="edit.toggle"
            icon={undefined}
            look="primary"
            isLabeled
            after={<ActionKey name="edit.toggle" />}
            onDone={onClose}
          />
          {count > 1 && <ActionButton name="edit.restore-all" onDone={onClose} />}
        </div>
      )}
    </>
  );
}

type PauseLengthProps = { before: number; isRemoved: boolean; onClose(): void };

/** The length of a pause, which can be changed. The details of a removed pause are above it. */
function PauseLength({ before, isRemoved, onClose }: PauseLengthProps) {
  const { editor, playback } = useEditor();
  const { words } = editor;
  const plan = editor.plan.value;
  const range = { start: words.end[before - 1]!, end: words.start[before]! };
  const [kept, setKept] = useState(() => String(Math.round(toSeconds(measureKept(plan, range)) * 100) / 100));
  const next = setPause(plan, range, fromSeconds(Math.max(0, Number(kept))));
  if (isRemoved && !editor.canEdit) return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        editor.apply({ plan: next }, "Change pause", `Pause is ${kept} s long`);
        onClose();
      }}
    >
      {!isRemoved && (
        <header class="silence">
          <Icon name={REASON_ICONS.silence} />
          <strong>{REASON_NAMES.silence}</strong>
          <span class="soft number">{measureRange(editor, range)}</span>
        </header>
      )}
      <div class="toolbar">
        {editor.canEdit && (
          <label class="pause-limit">
            Leave{" "}
            <input
              class="input number"
              type="number"
              min="0"
              max={toSeconds(range.end - range.start)}
              step="any"
              required
              value={kept}
              onInput={(event) => setKept(event.currentTarget.value)}
            />{" "}
            s
          </label>
        )}
        {editor.canEdit && (
          <Button type="submit" look={isRemoved ? "default" : "primary"}>
            Apply
          </Button>
        )}
        <Button
          icon="play"
          disabled={!playback.isReady.value}
          onClick={() => playback.playPart(next, findContext(next, range))}
        >
          Listen
        </Button>
      </div>
    </form>
  );
}

function Selected({ range, onCorrect, onClose }: Pick<PopoverProps, "range" | "onCorrect" | "onClose">) {
  const { editor, playback } = useEditor();
  const time = editor.range.value;
  return (
    <>
      <header>
        {time !== null && <span class="soft number">{measureRange(editor, time)}</span>}
        <span class="spacer" />
        <ActionButton name="playback.selection" />
        <ActionButton name="playback.loop" aria-pressed={playback.loop.value !== null} />
      </header>
      {editor.canEdit && (
        <div class="toolbar">
          <ActionButton
            name="edit.toggle"
            icon={undefined}
            look="primary"
            isLabeled
            after={<ActionKey name="edit.toggle" />}
            onDone={onClose}
          />
          <Button onClick={() => onCorrect(range)}>
            Correct <ActionKey name="words.correct" />
          </Button>
        </div>
      )}
    </>
  );
}
