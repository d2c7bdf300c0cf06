import { useEffect, useState } from "preact/hooks";
import type { Editor } from "../../editor/state/editor-state";

const SHOWN_MS = 6_000;

/**
 * Shows what has changed, or why nothing has, and announces it to assistive technology. A repeated text is announced
 * again.
 */
export function Feedback({ editor }: { editor: Editor }) {
  const { id, text } = editor.announcement.value;
  const [endedId, setEndedId] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setEndedId(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return (
    <div class={text === "" || endedId === id ? "visually-hidden" : "feedback"} role="status">
      <p key={id}>{text}</p>
    </div>
  );
}
