import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { type Action, createInGroup, useActions } from "../../app/actions";
import { toNumber } from "../../app/english";
import { formatDecimal } from "../../app/format";
import { touch } from "../../app/narrow";
import { canWrite } from "../../app/session";
import { createSetting } from "../../app/settings";
import type { Asset } from "../../pages/asset/use-media";
import { ActionButton } from "../../ui/button";
import { Message } from "../../ui/states";
import { openContextMenu } from "../context-menu";
import { findSpanIndex, type Range, toSeconds } from "../model/plan";
import { countReasons } from "../model/reason-edits";
import {
  FIND_WHOLE,
  findSame,
  findText,
  findWordAt,
  findWordSpan,
  findWordsIn,
  getWordBounds,
  isMisheard,
  isWordKept,
  type WordRange,
} from "../model/words";
import { nameCount } from "../reasons";
import { useReview } from "../review/use-review";
import { openTab, useComputedOf, useEditor } from "../state/context";
import { removeMatches, replaceMatches, restoreAll, toggleRange } from "../state/edit-actions";
import type { Editor } from "../state/editor-state";
import type { Playback } from "../state/playback";
import { createCorrecting } from "./correction-field";
import { FindBar } from "./find-bar";
import { findUntranscribed } from "./foreign";
import { findLanguage } from "./language-note";
import { findRemovedPause, joinTexts } from "./paragraphs";
import { PartialTranscript } from "./partial-transcript";
import type { ReadingPlace } from "./places";
import { Transcript, type TranscriptCommands } from "./transcript";
import { WordPopover } from "./word-popover";

/** Whether the text shows kept pauses, too. */
const hasAllPauses = createSetting<boolean>("shown-pauses", false);

const inTranscript = createInGroup("Transcript");

/** Keys that the words handle while they have the focus. */
const WORD_KEYS: Action = {
  name: "words.select",
  label: "Select a word; with Shift, more words",
  group: "Transcript",
  keys: ["Ctrl+ArrowLeft", "Ctrl+ArrowRight"],
};

/** A range that was selected in the timeline, whose details the transcript opens. */
export const shownRange = signal<Range | null>(null);

const MENU = [
  ["words.play", "edit.toggle", "edit.restore-all", "words.correct", "words.find-same", "playback.loop"],
  ["review.here"],
  ["edit.clear"],
];

/** The transcript. Removed words are struck through. */
export function TranscriptTab() {
  const { asset, editor, playback, problem } = useEditor();
  const section = useRef<HTMLElement>(null);
  const search = useSignal<string | null>(null);
  const options = useSignal(FIND_WHOLE);
  const replacement = useSignal<string | null>(null);
  const hidesRemoved = useSignal(false);
  const commands = useRef<TranscriptCommands | null>(null);
  const place = useRef<ReadingPlace | null>(null);
  const found = useComputedOf(
    () =>
      search.value === null ? [] : findText({ ...editor.words, text: editor.texts.value }, search.value, options.value),
    [editor],
  );
  // The timeline shows the matches, too.
  editor.found.value = found.value;
  const toWords = (range: Range | null) => {
    const words = range && findWordsIn(editor.words, range);
    return words && words.to > words.from ? words : null;
  };
  // A removed span has a ring in the color of its reason instead.
  const selected = useComputedOf(
    () => (editor.span.value === null ? (editor.selection.value ?? toWords(editor.range.value)) : null),
    [editor],
  );
  const openSpan = useComputedOf(() => toWords(editor.span.value), [editor]);
  useSignalEffect(() => {
    const words = toWords(shownRange.value);
    shownRange.value = null;
    if (words !== null && openTab.peek() === "transcript") commands.current?.explain(words);
  });
  const asked = useSignal(0);
  const open = () => {
    openTab.value = "transcript";
    asked.value++;
  };
  const replace = () => {
    open();
    search.value ??= "";
    replacement.value ??= "";
  };
  const hide = () => {
    hidesRemoved.value = !hidesRemoved.value;
    editor.announce(hidesRemoved.value ? "Removed words are hidden" : "Removed words are shown");
  };
  const showPauses = () => {
    hasAllPauses.value = !hasAllPauses.value;
  };
  const findMisheard = () => {
    openTab.value = "transcript";
    setTimeout(() => goToMisheard(editor, playback));
  };
  const correct = () => {
    openTab.value = "transcript";
    const range = editor.selection.peek() === null ? editor.range.peek() : null;
    // The tab is shown a moment later.
    setTimeout(() => commands.current?.correct(range && findWordsIn(editor.words, range)));
  };
  const findSelected = () => {
    search.value = getSelected(editor);
    options.value = { ...options.value, isWhole: true };
    open();
  };
  useActions(() => {
    // Without words, or until all are loaded, the browser's own search is used.
    if (!asset.cuttable) return [];
    const hasWords = editor.words.text.length > 0;
    const pauses = "Show all pauses in the text, or only removed ones";
    const reads = [
      ...(hasWords ? [inTranscript("words.find", "Find words", ["Mod+f"], open)] : []),
      inTranscript("words.hide-removed", "Hide or show removed words", ["h"], hide, { describe: () => "Hide removed" }),
      inTranscript("words.pauses", pauses, [], showPauses, { describe: () => "All pauses" }),
      inTranscript("words.misheard", "Next word that may be misheard", ["Alt+n"], findMisheard),
      inTranscript("words.play", "Play from the word", ["Enter"], () => playback.playFrom(editor.range.peek()!.start), {
        hasOwnKeys: true,
        isEnabled: () => editor.range.value !== null && playback.isReady.value,
      }),
      inTranscript("words.find-same", "Find the same words", [], findSelected, {
        isEnabled: () => getSelected(editor) !== "",
      }),
      WORD_KEYS,
    ];
    if (!editor.canEdit) return reads;
    const removeFound = () => removeMatches(editor, found.value, search.value?.trim() ?? "");
    return [
      ...reads,
      ...(hasWords
        ? [inTranscript("words.replace", "Find and replace", ["Mod+h"], replace, { describe: () => "Replace…" })]
        : []),
      inTranscript("words.remove-matches", "Remove all matches of the search", ["Alt+Enter"], removeFound, {
        describe: () => `Remove all ${found.value.length > 0 ? toNumber(found.value.length) : "matches"}`,
        isEnabled: () => found.value.length > 0,
        explain: () => editor.announce("No matches. Search for words first."),
      }),
      createRestoreAll(editor),
      inTranscript("words.correct", "Correct the selected words", ["F2"], correct, { describe: () => "Correct…" }),
    ];
  }, [editor, playback, asset.cuttable]);
  const count = editor.words.text.length;
  return (
    <section ref={section} class="transcript-panel" aria-label="Transcript">
      <h2 class="visually-hidden">Transcript</h2>
      {asset.cuttable && count > 0 && (
        <FindBar
          search={search}
          options={options}
          asked={asked.value}
          replacement={replacement}
          {...(editor.canEdit && {
            edit: {
              history: editor.history,
              replaceAll: (text: string) =>
                replaceMatches(editor, found.value, search.value?.trim() ?? "", text, options.value),
            },
          })}
          found={found.value}
          getStart={() => findWordAt(editor.words, playback.playhead.value)}
          onClose={() => {
            search.value = null;
            replacement.value = null;
            // Keys apply to the found words.
            section.current?.querySelector<HTMLElement>("[role=group]")?.focus({ preventScroll: true });
          }}
          onGo={({ from, to }) => {
            editor.selection.value = { from, to };
            playback.seek(editor.words.start[from]!);
          }}
        >
          <ActionButton name="words.pauses" look="quiet" aria-pressed={hasAllPauses.value} />
          <ActionButton name="words.hide-removed" look="quiet" aria-pressed={hidesRemoved.value} />
        </FindBar>
      )}
      {problem !== null && (
        <Message look="bad" role="alert">
          {problem}
        </Message>
      )}
      {!asset.cuttable && <PartialTranscript place={place} />}
      {asset.cuttable && count === 0 && problem === null && (
        <p class="soft transcript-empty">{describeNoWords(asset, editor.canEdit)}</p>
      )}
      {count > 0 && (
        <Transcript
          words={editor.words}
          texts={editor.texts.value}
          plan={editor.plan.value}
          marks={useReview()?.openMarks.value}
          playhead={playback.playhead}
          isPlaying={playback.isPlaying}
          selection={editor.selection}
          selected={selected}
          selectedTime={editor.range}
          openSpan={openSpan}
          found={found.value}
          filter={editor.filter.value}
          hidesRemoved={hidesRemoved.value}
          hasAllPauses={hasAllPauses.value}
          onPick={(word) => pickSpan(editor, word)}
          onPickPause={(word, byKeyboard) => pickPause(editor, word, byKeyboard)}
          commands={commands}
          place={place}
          onMenu={(place, word) => {
            const range = editor.range.peek();
            const bounds = getWordBounds(editor.words, { from: word, to: word + 1 });
            const isSelected = range !== null && range.start < bounds.end && range.end > bounds.start;
            if (!isSelected && pickSpan(editor, word) === null) editor.selection.value = { from: word, to: word + 1 };
            openContextMenu(place, "Words", MENU);
          }}
          language={findLanguage({ asset, editor })}
          countSame={(range) => findSame({ ...editor.words, text: editor.texts.value }, range).length}
          renderDetails={(details) => <WordPopover {...details} />}
          onSeek={playback.seek}
          onPlay={playback.playFrom}
          {...(editor.canEdit && {
            onToggle: (range: WordRange) => toggleRange(editor, range),
            onCorrect: createCorrecting(editor, asset.project_id, findLanguage({ asset, editor })),
          })}
        />
      )}
    </section>
  );
}

/** Selects the removed span of a word. Returns its words; null if the word is kept. */
function pickSpan(editor: Editor, word: number): WordRange | null {
  const span = findWordSpan(editor.plan.peek(), editor.words, word);
  if (span.isKept) return null;
  editor.span.value = span;
  return findWordsIn(editor.words, span);
}

/** Selects the pause before a word: the removed span, or the time between the words. A key announces it. */
function pickPause(editor: Editor, word: number, byKeyboard: boolean): void {
  const range = { start: editor.words.end[word - 1]!, end: editor.words.start[word]! };
  const plan = editor.plan.peek();
  const middle = plan.spans[findSpanIndex(plan, Math.round((range.start + range.end) / 2))]!;
  const removed = findRemovedPause(plan, range) ?? (middle.isKept ? null : middle);
  if (removed === null) editor.marks.value = { in: range.start, out: range.end };
  else editor.span.value = removed;
  if (!byKeyboard) return;
  const { start, end } = removed ?? range;
  editor.announce(`Pause of ${formatDecimal(toSeconds(end - start))} s, ${removed === null ? "kept" : "removed"}`);
}

/** Returns the selected text. */
const getSelected = ({ range, words, texts }: Editor): string =>
  range.value === null ? "" : joinTexts(texts.value, findWordsIn(words, range.value));

const createRestoreAll = (editor: Editor): Action => ({
  name: "edit.restore-all",
  label: "Restore all removals of the same kind",
  group: "Editing",
  keys: ["Shift+Backspace"],
  isEnabled: () => editor.span.value !== null,
  describe: () => {
    const { reason } = editor.span.value!;
    const count = countReasons(editor.plan.value).get(reason)?.count ?? 1;
    return `Restore ${count === 1 ? "the only" : `all ${count}`} ${nameCount(reason, count)}`;
  },
  perform: () => restoreAll(editor, editor.span.peek()!.reason),
});

function goToMisheard(editor: Editor, playback: Playback): void {
  const { words } = editor;
  const [texts, plan, count] = [editor.texts.peek(), editor.plan.peek(), words.text.length];
  const isWanted = (word: number) =>
    isMisheard(words, word) && texts[word] === words.text[word] && isWordKept(plan, words, word);
  const start = editor.selection.peek()?.from ?? findWordAt(words, playback.playhead.peek());
  for (let step = 1; step <= count; step++) {
    const word = (start + step + count) % count;
    if (!isWanted(word)) continue;
    editor.selection.value = { from: word, to: word + 1 };
    playback.seek(words.start[word]!);
    return;
  }
  editor.announce("No word that may be misheard");
}

/** Explains the missing words, with advice. */
function describeNoWords(asset: Asset, canEdit: boolean): string {
  // The note about the language has the advice.
  if (findUntranscribed(asset) !== null) return "This recording was not transcribed.";
  const hasAudio = asset.audio_tracks !== 0;
  const byTouch = canEdit ? "Hold the timeline to select a part." : "Choose “Cut by hand” to remove parts of it.";
  const advice = touch.matches ? byTouch : "Cut by hand with I, O and Delete.";
  return [hasAudio ? "No speech found." : "This recording has no audio.", canWrite.value && advice]
    .filter(Boolean)
    .join(" ");
}
