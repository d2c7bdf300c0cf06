import type { Editor } from "./editor-state";

/** Says what has changed to assistive technology. The same text is said again when it happens again. */
export const Announcer = ({ editor }: { editor: Editor }) => {
  const { id, text } = editor.announcement.value;
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      <p key={id}>{text}</p>
    </div>
  );
};
