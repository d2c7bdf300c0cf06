/** Corrects words in the transcript without cutting them. */
import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useRead } from "../../app/cache";
import { addCorrectedTerm, describeCommonForm, findCommonForm, isOtherTerm } from "../../app/vocabulary";
import { Button } from "../../ui/button";
import type { WordRange } from "../model/words";
import { correctText } from "../state/edit-actions";
import type { Editor } from "../state/editor-state";
import { type Page, toDocumentRange } from "./places";
import { findView } from "./use-follow";

/** `isEverywhere`: wherever the words are said. `isFromNowOn`: also in new transcripts and cuts. */
export type CorrectionScope = { isEverywhere: boolean; isFromNowOn: boolean };

type CorrectionFieldProps = {
  /** The recognized text. */
  recognized: string;
  text: string;
  /** Position of the words in the scrolled text. */
  left: number;
  top: number;
  /** Number of places where these words are said. */
  count: number;
  /** The language of the recording; null if unknown. */
  language: string | null;
  onSave(text: string, scope: CorrectionScope): void;
  onClose(): void;
};

/** A field over the transcript that replaces the text of words without cutting them. */
export function CorrectionField({
  recognized,
  text,
  left,
  top,
  count,
  language,
  onSave,
  onClose,
}: CorrectionFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const everywhere = useRef<HTMLInputElement>(null);
  const typed = useSignal(text);
  const isFromNowOn = useSignal(false);
  const { state } = useRead(["common form", recognized, language], (signal) =>
    findCommonForm(recognized, language, signal),
  );
  const common = state.value.kind === "ready" ? state.value.value : null;
  const isRefused = common !== null && isFromNowOn.value && isOtherTerm(recognized, typed.value);
  // A layout effect runs before the next key press.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
    input.current?.form?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <form
      class="word-popover"
      aria-label="Correct words"
      style={{ "--left": `${left}px`, "--top": `${top}px` }}
      onSubmit={(event) => {
        event.preventDefault();
        onSave(input.current!.value, {
          isEverywhere: everywhere.current?.checked === true,
          isFromNowOn: isFromNowOn.value,
        });
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
      }}
    >
      <header>
        <strong>{/\s/.test(recognized) ? "Correct the words" : "Correct the word"}</strong>
        <span class="spacer" />
        <span class="soft" id={`${id}-recognized`} dir="auto">
          Recognized: {recognized}
        </span>
      </header>
      <input
        ref={input}
        class="input"
        aria-label="Corrected text"
        dir="auto"
        autocomplete="off"
        defaultValue={text}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
        }}
        aria-describedby={`${id}-recognized ${id}-hint`}
      />
      {count > 1 && (
        <label class="check">
          <input ref={everywhere} type="checkbox" /> Everywhere, {count} times
        </label>
      )}
      <label class="check">
        <input
          type="checkbox"
          aria-describedby={`${id}-hint`}
          onChange={(event) => {
            isFromNowOn.value = event.currentTarget.checked;
          }}
        />{" "}
        Add to the vocabulary of this project
      </label>
      <span class="soft hint" id={`${id}-hint`} role="status" dir="auto">
        {isRefused ? describeCommonForm(common) : "The audio stays as it is."}
      </span>
      <div class="toolbar">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary">
          Correct <span class="key">⏎</span>
        </Button>
      </div>
    </form>
  );
}

/**
 * Returns a function that corrects words and, depending on the scope, adds the correction to the project's vocabulary.
 */
export const createCorrecting =
  (editor: Editor, projectId: string, language: string | null) =>
  (range: WordRange, text: string, { isEverywhere, isFromNowOn }: CorrectionScope): void => {
    const recognized = editor.words.text.slice(range.from, range.to).join(" ");
    correctText(editor, range, text, isEverywhere);
    if (isFromNowOn) void addCorrectedTerm(projectId, { recognized, text, language });
  };

/** Space in pixels to the right of the left edge of the field, and below its top edge in a page of selected text. */
const FIELD_WIDTH = 330;
const FIELD_HEIGHT = 100;

type CorrectingOptions = {
  page: RefObject<Page | null>;
  scroller: RefObject<HTMLElement | null>;
  list: RefObject<HTMLElement | null>;
  /** Aligned with the top left of the text. */
  layer: RefObject<HTMLElement | null>;
};

/** The words that are being corrected, and the position of the field in pixels. */
type Place = {
  range: WordRange;
  left: number;
  /** The top of the words. */
  start: number;
  /** The top of the field, which is below the words. */
  top: number;
  /** Whether the view is as high as the words. */
  fits: boolean;
};

type Correcting = {
  place: ReadonlySignal<Place | null>;
  isOpen: ReadonlySignal<boolean>;
  /** Opens the field below the words. */
  open(range: WordRange): void;
  /** Closes the field and returns the focus to the text. */
  close(): void;
  /** Closes the field and leaves the focus where it is. */
  hide(): void;
};

export function useCorrecting({ page, scroller, list, layer }: CorrectingOptions): Correcting {
  const place = useSignal<Place | null>(null);
  const isOpen = useComputed(() => place.value !== null);
  const open = (range: WordRange) => {
    const box = page.current && toDocumentRange(page.current, range)?.getBoundingClientRect();
    const origin = layer.current?.getBoundingClientRect();
    // Behind another tab, nothing has a place.
    if (!box || !origin || !scroller.current?.checkVisibility()) return;
    const view = findView(scroller.current);
    const left = Math.min(box.left - origin.left, Math.max(0, scroller.current.clientWidth - FIELD_WIDTH));
    const fits = box.height <= view.bottom - view.top;
    const bottom = fits ? box.bottom : Math.min(box.bottom, view.bottom - FIELD_HEIGHT);
    place.value = { range, left, start: box.top - origin.top, top: Math.max(0, bottom - origin.top), fits };
  };
  const hide = () => {
    place.value = null;
  };
  const close = () => {
    hide();
    list.current?.focus({ preventScroll: true });
  };
  return { place, isOpen, open, close, hide };
}
