/** The right column with tabs for the transcript and the details of the cut. */

import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { touch } from "../../app/narrow";
import { canWrite } from "../../app/session";
import { createSetting } from "../../app/settings";
import { ReviewTab } from "../../editor/review/review-tab";
import { TakesTab } from "../../editor/review/takes-tab";
import { useReviewCount } from "../../editor/review/use-review";
import { openTab, TABS, type TabName, useEditor } from "../../editor/state/context";
import type { Plan } from "../../editor/state/editor-state";
import { LanguageNote } from "../../editor/transcript/language-note";
import { TranscriptTab } from "../../editor/transcript/transcript-tab";
import { Button, IconButton } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { focusHeading } from "../../ui/page";
import { Message } from "../../ui/states";
import { ComparePanel } from "./compare-panel";
import { RendersTab } from "./output/output-panel";
import { SideResizer } from "./panel-resizers";
import { ScriptPanel } from "./script-panel";
import { hasSpeech } from "./use-media";

const LABELS: Record<TabName, string> = {
  transcript: "Transcript",
  review: "Review",
  takes: "Takes",
  script: "Script",
  renders: "Renders",
};

const PANELS: Record<Exclude<TabName, "transcript">, FunctionComponent> = {
  review: ReviewTab,
  takes: TakesTab,
  script: ScriptTab,
  renders: RendersTab,
};

export function Side() {
  const { editor, asset } = useEditor();
  const places = useReviewCount();
  const list = useRef<HTMLDivElement>(null);
  const counts: Partial<Record<TabName, number>> = { review: places, takes: editor.takes.value.length };
  const open = openTab.value;
  const Panel = open === "transcript" ? null : PANELS[open];
  useReadingPlace(open);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    const next = TABS.at((TABS.indexOf(open) + step) % TABS.length)!;
    openTab.value = next;
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <aside class="side" aria-label="Text, review and output">
      <SideResizer />
      <div class="tabs" role="tablist" ref={list} onKeyDown={move}>
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === open}
            aria-controls={name === open ? `panel-${name}` : undefined}
            tabIndex={name === open ? 0 : -1}
            onClick={() => {
              openTab.value = name;
            }}
          >
            {LABELS[name]} {(counts[name] ?? 0) > 0 && <span class="badge number">{counts[name]}</span>}
          </button>
        ))}
      </div>
      <LanguageNote />
      {/* The transcript keeps its place while another tab is open. */}
      <TabPanel name="transcript" isHidden={open !== "transcript"}>
        <TranscriptTab />
        {asset.cuttable && hasSpeech(asset, editor.words.text.length) && <Hints />}
      </TabPanel>
      {Panel !== null && (
        <TabPanel name={open}>
          <Panel />
        </TabPanel>
      )}
    </aside>
  );
}

/** Keeps the place in the transcript while another tab is open in a window in which the page scrolls. */
function useReadingPlace(open: TabName): void {
  const place = useRef(0);
  useEffect(() => {
    let shown = openTab.peek();
    return openTab.subscribe((next) => {
      if (shown === "transcript" && next !== shown) place.current = scrollY;
      shown = next;
    });
  }, []);
  useLayoutEffect(() => {
    if (open === "transcript" && place.current > 0) scrollTo({ top: place.current, behavior: "instant" });
  }, [open]);
}

type TabPanelProps = { name: TabName; isHidden?: boolean; children: ComponentChildren };

const TabPanel = ({ name, isHidden = false, children }: TabPanelProps) => (
  <div
    class={`tab-panel of-${name}`}
    role="tabpanel"
    id={`panel-${name}`}
    aria-labelledby={`tab-${name}`}
    hidden={isHidden}
  >
    {children}
  </div>
);

/** The script, the notes of the cut's plan, and the comparison with other versions. */
function ScriptTab() {
  const { asset, editor } = useEditor();
  return (
    <>
      {canWrite.value && asset.audio_tracks !== 0 && <ScriptPanel />}
      {asset.audio_tracks === 0 && <p class="soft tab-empty">This recording has no audio, so it needs no script.</p>}
      {editor.cut?.plan && <NotesPanel plan={editor.cut.plan} />}
      <ComparePanel />
    </>
  );
}

/** Lists script lines that were not found, and warnings from planning. */
function NotesPanel({ plan }: { plan: Plan }) {
  const { missing, warnings } = plan;
  if (missing.length === 0 && warnings.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="notes-title">
      <h2 id="notes-title">Notes on this cut</h2>
      {missing.length > 0 && (
        <Message look="warning">
          <div>
            <p>
              {missing.length === 1
                ? "A line of the script is not in the recording:"
                : `${missing.length} lines of the script are not in the recording:`}
            </p>
            <ul class="note-list">
              {missing.map((line, index) => (
                <li key={`${index} ${line}`} dir="auto">
                  {line}
                </li>
              ))}
            </ul>
          </div>
        </Message>
      )}
      {warnings.map((warning) => (
        <Message look="warning" key={warning}>
          {warning}
        </Message>
      ))}
    </section>
  );
}

/** `touch`: the text for touch screens, which have neither keys nor a mouse. */
type Hint = { title: string; text: string; touch?: string };

const PLAY = "“Play” plays the result at once, without rendering.";
const EDITOR_HINTS: Hint[] = [
  {
    title: "Make a cut.",
    text: "Paste the script, or leave it empty, and press “Make cut” under Script. The recording itself never changes.",
  },
  {
    title: "Edit by words.",
    text: "Select words and press Delete to remove or restore them. Edges can be dragged on the timeline, and everything can be undone.",
    touch:
      "Hold a word or the timeline to select a part, and drag its ends. A tap on a removed word says why it is removed. Everything can be undone.",
  },
  {
    title: "Listen, then keep it.",
    text: `${PLAY} Edits are kept as a draft; “Save” keeps them as a version. Press ? for all keys.`,
    touch: `${PLAY} Edits are kept as a draft; “Save” keeps them as a version.`,
  },
];
const VIEWER_HINTS: Hint[] = [
  { title: "Read the cut.", text: "Words that are struck through are removed. Their color says why." },
  {
    title: "Find a place.",
    text: "Click a word to go there, or press Ctrl+F to search the words.",
    touch: "Tap a word to go there, or search the words.",
  },
  {
    title: "Listen to it.",
    text: `${PLAY} “Export” saves it for an editor. Press ? for all keys.`,
    touch: `${PLAY} “Export” saves it for an editor.`,
  },
];

/** Number of hints that the user has read. */
const knownHints = createSetting<number>("hints.asset", 0);

/** Explains the page to first-time users, one hint at a time. Hints that were read or hidden do not return. */
function Hints() {
  const { cut } = useEditor();
  const hints = canWrite.value ? EDITOR_HINTS : VIEWER_HINTS;
  // The first hint of writers leads to a cut.
  const first = canWrite.value && cut !== null ? 1 : 0;
  const read = Math.max(knownHints.value, first);
  const hint = hints[read];
  if (hint === undefined) return null;
  const go = (count: number) => {
    knownHints.value = count;
    // The focused button disappears with the last hint.
    if (count >= hints.length) focusHeading();
  };
  const text = (touch.matches && hint.touch) || hint.text;
  const isLast = read === hints.length - 1;
  return (
    <section class="message hints" aria-label="Hints">
      <Icon name="info" />
      <p aria-live="polite">
        <strong>{hint.title}</strong> {text}{" "}
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
