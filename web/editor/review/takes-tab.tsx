import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { useActions } from "../../app/actions";
import { formatDuration } from "../../app/format";
import { Button, IconButton } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { isByKeyboard, isLongPress, openContextMenu } from "../context-menu";
import { toSeconds } from "../model/plan";
import type { Take } from "../model/takes";
import { openTab, useEditor } from "../state/context";
import { selectTake } from "../state/edit-actions";
import { playTake } from "../state/seek-actions";
import { readExcerpt } from "./item-texts";

const MENU = [["takes.use", "takes.play", "takes.go-to"]];

type Picked = { take: Take; index: number };

/** Lists lines that were recorded several times. */
export function TakesTab() {
  const { editor, playback } = useEditor();
  const takes = editor.takes.value;
  /** The take of the context menu. */
  const picked = useSignal<Picked | null>(null);
  useActions(
    useMemo(() => {
      const at = (run: (picked: Picked) => void) => () => picked.value !== null && run(picked.value);
      const row = { group: "Takes", keys: [] };
      const use = {
        ...row,
        name: "takes.use",
        label: "Use this take",
        isEnabled: () => editor.canEdit && picked.value?.take.candidates[picked.value.index]?.isKept === false,
        perform: at(({ take, index }) => selectTake(editor, take, index)),
      };
      const play = {
        ...row,
        name: "takes.play",
        label: "Play this take in place",
        isEnabled: () => picked.value !== null && playback.isReady.value,
        perform: at(({ take, index }) => playTake(editor, playback, take, index)),
      };
      const goTo = {
        ...row,
        name: "takes.go-to",
        label: "Go to this take",
        isEnabled: () => picked.value !== null,
        perform: at(({ take, index }) => playback.seek(take.candidates[index]!.start)),
      };
      return [use, play, goTo];
    }, [editor, playback]),
  );
  if (takes.length === 0)
    return (
      <div class="tab-empty">
        <p class="soft">No line was said more than once.</p>
        {editor.canEdit && (
          <Button
            class="filled"
            onClick={() => {
              openTab.value = "script";
            }}
          >
            Compare with a script
          </Button>
        )}
      </div>
    );
  return (
    <section class="takes" aria-labelledby="takes-title">
      <h2 id="takes-title" class="visually-hidden">
        Takes
      </h2>
      <ul class="take-lines">
        {takes.map((take) => (
          <li key={take.candidates[0]!.start} class="take-line">
            <h3 dir="auto">{take.line}</h3>
            {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields. */}
            <div role="group" aria-label={take.line}>
              {take.candidates.map((candidate, index) => (
                <TakeRow
                  key={candidate.start}
                  take={take}
                  index={index}
                  onMenu={(event) => {
                    if (isLongPress(event)) return;
                    event.preventDefault();
                    picked.value = { take, index };
                    const row = event.currentTarget as HTMLElement;
                    const box = row.getBoundingClientRect();
                    openContextMenu(isByKeyboard(event) ? { x: box.left, y: box.bottom } : event, "Take", MENU);
                  }}
                />
              ))}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

type RowProps = { take: Take; index: number; onMenu(event: MouseEvent): void };

/** A take: pressed if the cut has it. The button beside it plays the cut with it. */
function TakeRow({ take, index, onMenu }: RowProps) {
  const { editor, playback } = useEditor();
  const { start, isComplete, isKept, score } = take.candidates[index]!;
  return (
    <div class="take">
      <IconButton
        icon="play"
        label={`Play take ${index + 1}`}
        disabled={!playback.isReady.value}
        onClick={() => playTake(editor, playback, take, index)}
      />
      <button
        type="button"
        class="take-choice"
        aria-pressed={isKept}
        disabled={!editor.canEdit}
        onContextMenu={onMenu}
        onClick={() => {
          if (!isKept) selectTake(editor, take, index);
          playTake(editor, playback, take, index);
        }}
      >
        <span class="take-check">{isKept && <Icon name="check" />}</span>
        <span>
          <b>Take {index + 1}</b>
          <span class="soft number"> at {formatDuration(Math.floor(toSeconds(start)))}</span>
          {!isComplete && <span class="soft"> · incomplete</span>}
          {score !== null && <span class="soft number"> · score {Math.round(score * 100)}</span>}
          <span class="take-text" dir="auto">
            {readExcerpt(editor, take.candidates[index]!)}
          </span>
        </span>
      </button>
    </div>
  );
}
