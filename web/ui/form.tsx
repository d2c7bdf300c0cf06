/** Forms and their fields. */
import { type ComponentChildren, createContext, type JSX } from "preact";
import { useContext, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../app/api";
import { Button } from "./button";
import type { IconName } from "./icon";
import { ErrorMessage } from "./states";

export type FormValues = Record<string, string>;

export type FormProps = {
  /** Sends the values by field name. Errors that it throws are shown. */
  onSend(values: FormValues): Promise<void>;
  submitLabel: string;
  look?: "primary" | "danger" | "default";
  icon?: IconName | undefined;
  children?: ComponentChildren;
  /** Returns the row of buttons around the one that sends the form. Default: only that one, without a row. */
  footer?: (submit: ComponentChildren) => ComponentChildren;
  class?: string;
};

const FormErrors = createContext<Record<string, string>>({});

/** Returns the server's errors of the form around a component, by field name. */
export const useFormErrors = (): Record<string, string> => useContext(FormErrors);

/** A form that shows the server's errors next to their fields, and moves the focus to the first one. */
export function Form({
  onSend,
  submitLabel,
  look = "primary",
  icon,
  children,
  footer = (submit) => submit,
  class: className = "",
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [failure, setFailure] = useState<{ error: unknown; fields: Record<string, string> } | null>(null);
  const [isSending, setIsSending] = useState(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (isSending) return;
    setIsSending(true);
    setFailure(null);
    try {
      await onSend(Object.fromEntries([...new FormData(form.current!)].map(([name, value]) => [name, String(value)])));
    } catch (error) {
      const fields = error instanceof ApiError ? error.fields : {};
      setFailure({ error, fields });
      const first = Object.keys(fields).map((name) => form.current?.elements.namedItem(name));
      const input = first.find((one) => one instanceof HTMLElement);
      if (input instanceof HTMLElement) input.focus();
    } finally {
      setIsSending(false);
    }
  }

  const errors = failure?.fields ?? {};
  const isShownAtField = Object.keys(errors).some((name) => form.current?.elements.namedItem(name));
  return (
    <form ref={form} class={`form ${className}`} onSubmit={submit} noValidate={false}>
      <FormErrors.Provider value={errors}>{children}</FormErrors.Provider>
      {footer(
        <Button look={look} icon={icon} type="submit" isBusy={isSending}>
          {submitLabel}
        </Button>,
      )}
      <ErrorMessage error={failure !== null && !isShownAtField ? failure.error : null} />
    </form>
  );
}

/** The `footer` of a form whose button is only as wide as its label. */
export const inToolbar = (submit: ComponentChildren) => <div class="toolbar">{submit}</div>;

/** The server's error of a field. */
export function FieldError({ name, id }: { name: string; id?: string }) {
  const { [name]: error } = useFormErrors();
  return error ? (
    <span class="field-error" id={id}>
      {error}
    </span>
  ) : null;
}

type FieldProps = {
  label: string;
  name: string;
  hint?: string;
  /** Name of the field in the API. Default: `name`. */
  errorName?: string;
  type?: "text" | "email" | "password" | "number" | "url" | "date";
  /**
   * With `onInput`, the current value; otherwise the initial one. In that case, rendering again keeps the user's input.
   */
  value?: string | number;
  autocomplete?: string;
  required?: boolean;
  /** Whether the field takes the focus when it appears. */
  isFirst?: boolean;
  spellcheck?: boolean;
  minLength?: number;
  maxLength?: number;
  /** A date for fields of type `date`. */
  min?: number | string;
  max?: number | string;
  step?: number | "any";
  placeholder?: string;
  onInput?: JSX.IntrinsicElements["input"]["onInput"];
  /** Called when the user leaves the field after a change. */
  onChange?: JSX.IntrinsicElements["input"]["onChange"];
};

/** A labeled input with a hint and an error, which assistive technology reads with it. */
export function Field({ label, hint, errorName, type = "text", isFirst = false, value, ...rest }: FieldProps) {
  const id = useId();
  const error = useFormErrors()[errorName ?? rest.name];
  const input = useRef<HTMLInputElement>(null);
  // A layout effect sets the focus before the next key press. Browsers honor the attribute `autofocus` only once per
  // document.
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
      <FieldError name={errorName ?? rest.name} id={`${id}-error`} />
    </div>
  );
}

type SelectProps<Value extends string> = Omit<JSX.IntrinsicElements["select"], "label" | "role" | "onChange"> & {
  label: string;
  options: readonly { value: Value; label: string }[];
  onChange?(value: NoInfer<Value>): void;
};

/** A labeled select field. */
export function SelectField<Value extends string>({ label, options, onChange, ...rest }: SelectProps<Value>) {
  const id = useId();
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <select
        {...rest}
        id={id}
        class="input"
        onChange={onChange && ((event) => onChange(event.currentTarget.value as Value))}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
