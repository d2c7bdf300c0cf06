import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { ApiError } from "../app/api";
import { ErrorMessage } from "./error-message";

export type FormValues = Record<string, string>;

type FormProps = {
  /** Sends the values by field name. Errors that it throws are shown. */
  onSend(values: FormValues): Promise<void>;
  children: (state: { errors: Record<string, string>; isSending: boolean }) => ComponentChildren;
  class?: string;
};

/** A form that shows the server's errors next to their fields, and moves the focus to the first one. */
export function Form({ onSend, children, class: className = "" }: FormProps) {
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
      {children({ errors, isSending })}
      <div role="alert">{failure && !isShownAtField && <ErrorMessage error={failure.error} />}</div>
    </form>
  );
}
