import { effect, type ReadonlySignal, type Signal, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { afterNextFrame } from "../../app/after-next-frame";
import { touch } from "../../app/narrow";
import { Button } from "../../ui/button";
import { isByKeyboard, isLongPress } from "../context-menu";
import type { EditorPlan, Range } from "../model/plan";
import { areRemoved, findPlayedWord, toUnit, type WordRange, type Words } from "../model/words";
import { useComputedOf } from "../state/context";
import { CorrectionField, type CorrectionScope, useCorrecting } from "./correction-field";
import { ReadsPauses, Sections, useViews } from "./paragraph";
import { joinTexts, type Mark } from "./paragraphs";
import { findWordAtPoint, type Page, type ReadingPlace, scrollToPlace, toDocumentRange } from "./places";
import { useFollow } from "./use-follow";
import { useMarks } from "./use-marks";
import { endSelection, useKeys } from "./use-selection";

export type TranscriptProps = {
  words: Words;
  /** The language of the recording; null if unknown. */
  language: string | null;
  /** The text of each word, with corrections. */
  texts: readonly string[];
  plan: EditorPlan;
  /** Places to review. */
  marks?: readonly Mark[] | undefined;
  /** Microseconds of the source. */
  playhead: ReadonlySignal<number>;
  isPlaying?: ReadonlySignal<boolean>;
  selection: Signal<WordRange | null>;
  /** The words that are selected in any way, such as in the timeline. Default: `selection`. */
  selected?: ReadonlySignal<WordRange | null>;
  /** The time that is selected in any way. Details of something else are hidden. */
  selectedTime?: ReadonlySignal<Range | null>;
  /** The words of the selected removed span. */
  openSpan?: ReadonlySignal<WordRange | null>;
  /** Matches of a search. */
  found: readonly WordRange[];
  onSeek(time: number): void;
  /** Plays from a time. Without it, Enter only seeks, and the page also handles the key. */
  onPlay?(time: number): void;
  /** Removes the words, or restores them. Without it and `onCorrect`, the words are read-only. */
  onToggle?(range: WordRange): void;
  onCorrect?(range: WordRange, text: string, scope: CorrectionScope): void;
  /** Number of places where the same words are said, including the range. */
  countSame?(range: WordRange): number;
  /** Selects the removed span of a word. Returns its words; null if the word is kept. */
  onPick?(word: number): WordRange | null;
  /** Opens the context menu. `word` is the one under the pointer, or the one at the caret. */
  onMenu?(place: { x: number; y: number }, word: number): void;
  /** Receives the commands for menus and keys of the page. */
  commands?: RefObject<TranscriptCommands | null>;
  /** The reading position before all words were loaded. It is taken over once. */
  place?: RefObject<ReadingPlace | null>;
  /** Shows details of words below them. */
  renderDetails?(details: Details): ComponentChildren;
  /** The reason to which the text is limited; the others are dimmed. */
  filter?: string | null;
  hidesRemoved?: boolean;
  /** Shows kept pauses, too. */
  hasAllPauses?: boolean;
  /** Selects the pause before a word. */
  onPickPause?(word: number, byKeyboard: boolean): void;
};

export type TranscriptCommands = {
  /** Opens the field that corrects words: by default the selected ones, or the word at the caret. */
  correct(range: WordRange | null): void;
  /** Opens the details of words that were selected elsewhere. */
  explain(range: WordRange): void;
};

export type Details = {
  /** Differs between removed spans and pauses. A selection that grows keeps its details. */
  key: string;
  range: WordRange;
  left: number;
  top: number;
  start: number;
  takesFocus: boolean;
  /** Whether the page may scroll to the words: they were chosen in the text and are not higher than the view. */
  isFromText: boolean;
  /** The word after the pause that the details are about; null for words. */
  pauseBefore: number | null;
  onCorrect(range: WordRange): void;
  onClose(): void;
};

const READ_HINT = "Ctrl with the arrow keys selects a word; Shift with them, more words. Enter plays from the word.";
const EDIT_HINT = `Select words and press Delete to remove or restore them. F2 corrects the text. ${READ_HINT}`;

/** A press that moves farther than this selects text. */
const MAX_CLICK_MOVE = 4;

const findChip = (list: HTMLElement | null, word: number): Element | null =>
  list?.querySelector(`.pause-chip[data-word="${word}"]`) ?? null;

/** The words as text. Removed words are in `<s>` elements. */
export function Transcript(props: TranscriptProps) {
  const { words, texts, plan, marks, hasAllPauses, playhead, selection, onSeek } = props;
  const views = useViews(words, texts, plan, marks, hasAllPauses, props.place?.current?.time);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const page = useRef<Page | null>(null);
  const played = useComputedOf(() => {
    const word = findPlayedWord(plan, words, playhead.value);
    return word === -1 ? -1 : toUnit(texts, word);
  }, [plan, words, texts, playhead]);
  const pressed = useRef({ x: 0, y: 0 });
  const follow = useFollow(scroller, props.isPlaying);
  const correcting = useCorrecting({ page, scroller, list, layer });
  const place = correcting.place.value;
  const details = useCorrecting({ page, scroller, list, layer });
  const shown = details.place.value;
  const takesFocus = useRef(false);
  const isFromText = useRef(true);
  const openedFor = useRef<{ words: WordRange | null; time: Range | null }>({ words: null, time: null });
  /** The selection whose details were shown, or are not wanted: that of another cut, or of a context menu. */
  const explained = useRef(selection.peek());
  const shownPlan = useRef(plan);
  const isPressed = useRef(false);
  const pauseBefore = useRef<number | null>(null);
  const caretPause = useSignal<number | null>(null);

  const isHeld = correcting.isOpen;
  const { selected = selection } = props;
  const { openSpan, found } = props;
  useMarks({ page, list, layer, views, played, selection, selected, openSpan, found, follow, isHeld });

  useLayoutEffect(() => {
    const start = props.place?.current;
    if (!start) return;
    props.place!.current = null;
    if (start.hasFocus) list.current?.focus({ preventScroll: true });
    if (start.time === undefined) return;
    follow.isOn.value = false;
    const scroll = () => page.current && scrollToPlace(page.current, words, scroller.current!, start);
    scroll();
    // The browser lays out the sections above only once they are near.
    afterNextFrame(scroll);
  }, []);

  const seekWord = (word: number) => {
    follow.isOn.value = true;
    onSeek(words.start[word]!);
  };
  const openCorrection = (range: WordRange) => {
    details.hide();
    if (props.onCorrect) correcting.open(range);
  };
  const openDetails = (range: WordRange, byKeyboard: boolean, pause: number | null = null) => {
    pauseBefore.current = pause;
    takesFocus.current = byKeyboard;
    isFromText.current = true;
    const chosen = selection.peek();
    openedFor.current = { words: chosen, time: props.selectedTime?.peek() ?? null };
    explained.current = chosen;
    if (props.renderDetails) details.open(range);
  };
  /** Closes the details. The focus stays where it is, unless it is in them. */
  const endDetails = () => {
    const isInside = scroller.current?.querySelector(".word-popover:not(form)")?.contains(document.activeElement);
    if (isInside) details.close();
    else details.hide();
  };
  // The details belong to the selection. Another version has a selection of its own.
  const { selectedTime } = props;
  useEffect(
    () =>
      effect(() => {
        const { words, time } = openedFor.current;
        const now = selectedTime?.value ?? null;
        // They move to a selection that keys have changed.
        if (selection.value !== null && words !== null && !isPressed.current) return;
        const isOther = now !== null && (now.start !== time?.start || now.end !== time.end);
        if (selection.value !== words || isOther) endDetails();
      }),
    [selection, selectedTime],
  );
  /** Fingers have the tools of the selection. */
  const explainSelection = () => afterNextFrame(() => latest.current());
  const latest = useRef(() => {});
  latest.current = () => {
    const range = selection.peek();
    if (range !== null && range !== explained.current && !touch.matches) openDetails(range, false);
  };
  useEffect(() => {
    explained.current = selection.peek();
    return selection.subscribe((range) => {
      if (range === null) return;
      caretPause.value = null;
      if (!isPressed.current) explainSelection();
    });
  }, [selection]);
  useEffect(() => {
    const release = () => {
      if (isPressed.current) explainSelection();
      isPressed.current = false;
    };
    const end = new AbortController();
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, release, { signal: end.signal });
    return () => end.abort();
  }, []);
  // A key has removed or restored the words, perhaps before details of the last selection were shown.
  useLayoutEffect(() => {
    const range = selection.peek();
    const before = shownPlan.current;
    shownPlan.current = plan;
    if (range === null || areRemoved(plan, words, range) === areRemoved(before, words, range)) return;
    explained.current = range;
    endDetails();
  }, [plan]);
  useSignalEffect(() => {
    const word = caretPause.value;
    list.current?.querySelector(".pause-chip.is-caret")?.classList.remove("is-caret");
    const chip = word === null ? null : findChip(list.current, word);
    chip?.classList.add("is-caret");
    chip?.scrollIntoView({ block: "nearest" });
  });
  useSignalEffect(() => {
    const opened = details.place.value === null ? null : pauseBefore.current;
    list.current?.querySelector(".pause-chip.is-open")?.classList.remove("is-open");
    if (opened !== null) findChip(list.current, opened)?.classList.add("is-open");
  });
  const { onKeyDown, getChosen } = useKeys({
    texts,
    selection,
    played,
    onToggle: props.onToggle,
    onCorrect: openCorrection,
    onSeekWord: seekWord,
    caretPause,
    // Otherwise the steps stop at words: ↑ and ↓ go to removed pauses.
    hasPauseBefore: (word) => props.hasAllPauses === true && findChip(list.current, word) !== null,
    onPickPause: (word) => props.onPickPause?.(word, true),
    onOpen: (word, isPause) => {
      const range = isPause ? { from: word, to: word + 1 } : (props.onPick?.(word) ?? null);
      if (range !== null) openDetails(range, true, isPause ? word : null);
      return range !== null;
    },
    onPlay: props.onPlay && ((word) => props.onPlay!(words.start[word]!)),
  });
  if (props.commands)
    props.commands.current = {
      correct: (range) => openCorrection(range ?? getChosen()),
      explain: (range) => {
        openDetails(range, false);
        isFromText.current = false;
      },
    };
  const onContextMenu = (event: MouseEvent) => {
    if (!props.onMenu || !page.current || isLongPress(event)) return;
    const isKey = isByKeyboard(event);
    const word = isKey ? getChosen().from : findWordAtPoint(page.current, event.clientX, event.clientY);
    if (word === null) return;
    event.preventDefault();
    details.hide();
    const box = isKey ? toDocumentRange(page.current, getChosen())?.getBoundingClientRect() : undefined;
    props.onMenu(box ? { x: box.left, y: box.bottom } : event, word);
    explained.current = selection.peek();
  };
  const onClick = (event: MouseEvent) => {
    const { x, y } = pressed.current;
    const isDrag = Math.hypot(event.clientX - x, event.clientY - y) > MAX_CLICK_MOVE;
    if (isDrag || event.shiftKey || event.detail > 1) return;
    details.hide();
    caretPause.value = null;
    const pause = event.target instanceof HTMLElement ? event.target.dataset.word : undefined;
    if (pause !== undefined) {
      follow.isOn.value = true;
      onSeek(words.end[Number(pause) - 1]!);
      props.onPickPause?.(Number(pause), false);
      openDetails({ from: Number(pause), to: Number(pause) + 1 }, false, Number(pause));
      return;
    }
    // A click inside the document's selection clears that selection only after this event.
    if (!page.current || event.target === list.current) return;
    const word = findWordAtPoint(page.current, event.clientX, event.clientY);
    if (word === null) return;
    seekWord(word);
    const range = props.onPick?.(word) ?? null;
    if (range !== null) openDetails(range, false);
  };

  return (
    <div class="transcript">
      <div class="transcript-scroller" ref={scroller}>
        <div class="transcript-layer" ref={layer} />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields. */}
        <div
          class={props.hidesRemoved ? "transcript-text hides-removed" : "transcript-text"}
          data-filter={props.filter}
          ref={list}
          role="group"
          aria-label="Words"
          aria-description={props.onToggle ? EDIT_HINT : READ_HINT}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the text needs the focus for its keys.
          tabIndex={0}
          onPointerDown={(event) => {
            pressed.current = { x: event.clientX, y: event.clientY };
            isPressed.current = event.button === 0;
            if (event.pointerType === "mouse" && event.button === 0 && !event.shiftKey) endSelection();
          }}
          onClick={onClick}
          onContextMenu={onContextMenu}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || details.place.peek() === null) return onKeyDown(event);
            event.preventDefault();
            explained.current = selection.peek();
            details.hide();
          }}
        >
          <ReadsPauses.Provider value={props.hasAllPauses === true && props.hidesRemoved !== true}>
            <Sections views={views} />
          </ReadsPauses.Provider>
        </div>
        {place && (
          <CorrectionField
            recognized={words.text.slice(place.range.from, place.range.to).join(" ")}
            text={joinTexts(texts, place.range)}
            left={place.left}
            top={place.top}
            language={props.language}
            count={props.countSame?.(place.range) ?? 1}
            onSave={(text, scope) => {
              props.onCorrect?.(place.range, text, scope);
              correcting.close();
            }}
            onClose={correcting.close}
          />
        )}
        {shown &&
          props.renderDetails?.({
            ...shown,
            key: `${pauseBefore.current} ${openedFor.current.words === null ? shown.range.from : "selection"}`,
            takesFocus: takesFocus.current,
            isFromText: isFromText.current && shown.fits,
            pauseBefore: pauseBefore.current,
            onCorrect: openCorrection,
            onClose: details.close,
          })}
      </div>
      <div class="transcript-actions">{!follow.isOn.value && <Button onClick={follow.resume}>Follow</Button>}</div>
    </div>
  );
}
