import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

type FieldProps = {
  label: string;
  name: string;
  hint?: string;
  error?: string | undefined;
  type?: "text" | "email" | "password" | "number" | "url" | "date";
  /** With `onInput` the value that is shown, else the one to begin with: what was typed since is kept when the page is drawn again. */
  value?: string | number;
  autocomplete?: string;
  required?: boolean;
  /** Takes the focus when it appears. */
  isFirst?: boolean;
  spellcheck?: boolean;
  minLength?: number;
  maxLength?: number;
  /** A date for a field of type `date`. */
  min?: number | string;
  max?: number | string;
  step?: number | "any";
  placeholder?: string;
  onInput?: JSX.IntrinsicElements["input"]["onInput"];
  /** When the field is left after a change. */
  onChange?: JSX.IntrinsicElements["input"]["onChange"];
};

/** A labeled input with a hint and an error, which assistive technology reads with it. */
export function Field({ label, hint, error, type = "text", isFirst = false, value, ...rest }: FieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // Before the next key is pressed. Not the attribute `autofocus`, which browsers honor once for each document.
  useLayoutEffect(() => {
    if (isFirst) input.current?.focus();
  }, [isFirst]);
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <input
        {...rest}
        {...(rest.onInput ? { value } : { defaultValue: value })}
        ref={input}
        type={type as "password"}
        id={id}
        class="input"
        data-first={isFirst || undefined}
        aria-invalid={error ? "true" : undefined}
        aria-describedby={described || undefined}
      />
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {error && (
        <span class="field-error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  );
}

type SelectProps = Omit<JSX.IntrinsicElements["select"], "label" | "role"> & {
  label: string;
  options: { value: string; label: string }[];
};

/** A labeled choice. */
export function SelectField({ label, options, ...rest }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <select {...rest} id={id} class="input">
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
