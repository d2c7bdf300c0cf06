import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button";
import { Dialog, DoneFooter } from "./dialog";

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

/** A link to this server that the user sends to somebody. */
export const LinkField = ({ value, ...rest }: CopyFieldProps) => <CopyField {...rest} value={toReachable(value)} />;

/**
 * Replaces a loopback address with the address of this page. Without the setting `public_url`, the server knows no
 * other address of its own.
 */
function toReachable(link: string): string {
  const { hostname, pathname, search, hash } = new URL(link);
  const isLoopback = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  return isLoopback ? `${location.origin}${pathname}${search}${hash}` : link;
}

/**
 * Copies the text of a field or of another element, and returns a message for the user. Over plain HTTP, browsers have
 * no clipboard API, but they still copy the selection.
 */
export async function copyText(element: HTMLElement): Promise<string> {
  return (await copy(element)) ? "Copied." : "The browser does not allow copying: press Ctrl+C or ⌘C.";
}

async function copy(element: HTMLElement): Promise<boolean> {
  const text = select(element);
  if (window.isSecureContext) {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (isCopied) return true;
  }
  return document.execCommand("copy");
}

/** Selects the text of an element and returns it. */
function select(element: HTMLElement): string {
  element.focus();
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    element.select();
    return element.value;
  }
  getSelection()?.selectAllChildren(element);
  return element.textContent;
}

/** Lines of code with a copy button. `label` names them for assistive technology. */
export function CodeBlock({ label, code }: { label: string; code: string }) {
  const lines = useRef<HTMLPreElement>(null);
  const [note, setNote] = useState("");
  const copy = async () => setNote(await copyText(lines.current!));
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard too. */}
      <pre ref={lines} role="group" aria-label={label} tabIndex={0} dir="ltr">
        {code}
      </pre>
      <div class="toolbar">
        <Button icon="copy" aria-label={`Copy ${label.toLowerCase()}`} onClick={() => void copy()}>
          Copy
        </Button>
        <span class="hint" role="status">
          {note}
        </span>
      </div>
    </div>
  );
}

type ShownOnceDialogProps = {
  title: string;
  isWide?: boolean;
  closeLabel?: string;
  onClose(): void;
  children: ComponentChildren;
};

/**
 * Shows a secret or a link that is not shown again. Only its button closes it, so that the secret is not lost by
 * accident.
 */
export const ShownOnceDialog = ({ title, isWide = false, closeLabel, onClose, children }: ShownOnceDialogProps) => (
  <Dialog title={title} isWide={isWide} isKept onClose={onClose}>
    <div class="dialog-body">{children}</div>
    <DoneFooter label={closeLabel} onClose={onClose} />
  </Dialog>
);
