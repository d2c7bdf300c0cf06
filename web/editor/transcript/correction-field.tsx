import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../ui/button";

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
  onSave(text: string, scope: CorrectionScope): void;
  onClose(): void;
};

/** A field over the transcript that replaces the text of words without cutting them. */
export function CorrectionField({ recognized, text, left, top, count, onSave, onClose }: CorrectionFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const everywhere = useRef<HTMLInputElement>(null);
  const fromNowOn = useRef<HTMLInputElement>(null);
  // A layout effect runs before the next key press.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
    input.current?.form?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <form
      class="correction"
      aria-label="Correct words"
      style={{ left: `${left}px`, top: `${top}px` }}
      onSubmit={(event) => {
        event.preventDefault();
        onSave(input.current!.value, {
          isEverywhere: everywhere.current?.checked === true,
          isFromNowOn: fromNowOn.current?.checked === true,
        });
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
      }}
    >
      <label class="label" for={id}>
        Corrected text
      </label>
      <input
        ref={input}
        id={id}
        class="input"
        dir="auto"
        autocomplete="off"
        defaultValue={text}
        aria-describedby={`${id}-hint`}
      />
      <span class="hint" id={`${id}-hint`} dir="auto">
        Recognized: {recognized}
      </span>
      {count > 1 && (
        <label class="check">
          <input ref={everywhere} type="checkbox" /> Everywhere, {count} times
        </label>
      )}
      <label class="check">
        <input ref={fromNowOn} type="checkbox" /> Also in future transcripts
      </label>
      <div class="toolbar">
        <Button type="submit" look="primary">
          Save text
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
