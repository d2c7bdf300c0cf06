/** The right column: the transcript, and what belongs to the cut, in tabs. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { useRef } from "preact/hooks";
import { canWrite } from "../../app/session";
import { ReviewTab } from "../../editor/review/review-tab";
import { TakesTab } from "../../editor/review/takes-tab";
import { useReviewCount } from "../../editor/review/use-review";
import { openTab, TABS, type TabName, useEditor } from "../../editor/state/context";
import type { Plan } from "../../editor/state/editor-state";
import { TranscriptTab } from "../../editor/transcript/transcript-tab";
import { Icon } from "../../ui/icon";
import { ComparePanel } from "./compare-panel";
import { Hints } from "./hints";
import { RendersTab } from "./output/output-panel";
import { SideResizer } from "./panel-resizers";
import { ScriptPanel } from "./script-panel";

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
      {/* The transcript keeps its place while another tab is open. */}
      <TabPanel name="transcript" isHidden={open !== "transcript"}>
        <TranscriptTab />
        {asset.audio_tracks !== 0 && <Hints />}
      </TabPanel>
      {Panel !== null && (
        <TabPanel name={open}>
          <Panel />
        </TabPanel>
      )}
    </aside>
  );
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

/** The script, how the cut was made, and what its plan says about both. */
function ScriptTab() {
  const { asset, editor } = useEditor();
  return (
    <>
      {canWrite.value && asset.audio_tracks !== 0 && <ScriptPanel />}
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
        <div class="message warning">
          <Icon name="warning" />
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
        </div>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="message warning">
          <Icon name="warning" />
          {warning}
        </p>
      ))}
    </section>
  );
}
