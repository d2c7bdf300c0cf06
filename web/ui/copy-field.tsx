import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button";
import { copyText } from "./copy-text";

type CopyFieldProps = { label: string; value: string; hint?: string; isFirst?: boolean };

/** A read-only value with a copy button. */
export function CopyField({ label, value, hint, isFirst = false }: CopyFieldProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [note, setNote] = useState("");
  useLayoutEffect(() => {
    if (isFirst) field.current?.select();
    if (isFirst) field.current?.focus();
  }, []);
  const copy = async () => setNote(await copyText(field.current!));
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <div class="copy-field">
        <input
          ref={field}
          id={id}
          class="input mono"
          readOnly
          data-first={isFirst || undefined}
          value={value}
          aria-describedby={hint ? `${id}-hint` : undefined}
        />
        <Button
          icon="copy"
          aria-label={`Copy ${label.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}`}
          onClick={() => void copy()}
        >
          Copy
        </Button>
      </div>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      <span class="hint copy-note" role="status">
        {note}
      </span>
    </div>
  );
}
