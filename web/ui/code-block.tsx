import { useRef, useState } from "preact/hooks";
import { Button } from "./button";
import { copyText } from "./copy-text";

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
