import { useState } from "preact/hooks";
import { recall, remember } from "../../app/memory";
import { canWrite, session } from "../../app/session";
import { useEditor } from "../../editor/state/context";
import { Button, IconButton } from "../../ui/button";
import { Icon } from "../../ui/icon";

type Hint = { title: string; text: string };

const PLAY = "“Play” plays the result at once, without rendering.";
const EDITOR_HINTS: Hint[] = [
  {
    title: "Make a cut.",
    text: "Paste the script, or leave it empty, and press “Make cut” under Script. The recording itself never changes.",
  },
  {
    title: "Edit by words.",
    text: "Select words and press Delete to remove or restore them. Edges can be dragged on the timeline, and everything can be undone.",
  },
  {
    title: "Listen, then keep it.",
    text: `${PLAY} Edits are kept as a draft; “Save” makes them a cut. Press ? for all keys.`,
  },
];
const VIEWER_HINTS: Hint[] = [
  { title: "Read the cut.", text: "Words that are struck through are removed. Their color says why." },
  { title: "Find a place.", text: "Click a word to go there, or press Ctrl+F to search the words." },
  { title: "Listen to it.", text: `${PLAY} “Export” saves it for an editor. Press ? for all keys.` },
];

const toKey = (): string => `hints.asset.${session.value.kind === "signed-in" ? session.value.me.id : ""}`;

/** Explains the page to first-time users, one hint at a time. Hints that were read or hidden do not return. */
export function Hints() {
  const { editor } = useEditor();
  const hints = canWrite.value ? EDITOR_HINTS : VIEWER_HINTS;
  const [known, setRead] = useState(() => Number(recall(toKey())) || 0);
  // The first hint of writers leads to a cut.
  const first = canWrite.value && editor.cut !== null ? 1 : 0;
  const read = Math.max(known, first);
  const hint = hints[read];
  if (hint === undefined) return null;
  const go = (count: number) => {
    remember(toKey(), String(count));
    setRead(count);
    // The focused button disappears with the last hint.
    if (count >= hints.length) document.querySelector<HTMLElement>("h1")?.focus();
  };
  const isLast = read === hints.length - 1;
  return (
    <section class="message hints" aria-label="Hints">
      <Icon name="info" />
      <p aria-live="polite">
        <strong>{hint.title}</strong> {hint.text}{" "}
        <span class="soft number">
          {read + 1 - first} of {hints.length - first}
        </span>
      </p>
      <span class="message-actions hint-actions">
        <Button onClick={() => go(read + 1)}>{isLast ? "Got it" : "Next hint"}</Button>
        {!isLast && <IconButton icon="close" label="Hide hints" onClick={() => go(hints.length)} />}
      </span>
    </section>
  );
}
