import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { createInGroup, useActions } from "../../app/actions";
import { formatDecimal, formatDuration, formatShare } from "../../app/format";
import { Button, IconButton } from "../../ui/button";
import { isByKeyboard, isLongPress, openContextMenu } from "../context-menu";
import { toSeconds } from "../model/plan";
import { explainIncomplete, type Take } from "../model/takes";
import { readExcerpt } from "../reasons";
import { openTab, useEditor } from "../state/context";
import { selectTake } from "../state/edit-actions";
import { playTake } from "../state/seek-actions";

const MENU = [["takes.use", "takes.play", "takes.go-to"]];

const toTake = createInGroup("Takes");

type Picked = { take: Take; index: number };

/** Lists lines that were recorded several times. */
export function TakesTab() {
  const { editor, playback } = useEditor();
  const takes = editor.takes.value;
  /** The take of the context menu. */
  const picked = useSignal<Picked | null>(null);
  useActions(() => {
    const at = (run: (picked: Picked) => void) => () => picked.value !== null && run(picked.value);
    return [
      toTake(
        "takes.use",
        "Use this take",
        [],
        at(({ take, index }) => selectTake(editor, take, index)),
        {
          isEnabled: () => editor.canEdit && picked.value?.take.candidates[picked.value.index]?.isKept === false,
        },
      ),
      toTake(
        "takes.play",
        "Play this take in place",
        [],
        at(({ take, index }) => playTake(editor, playback, take, index)),
        {
          isEnabled: () => picked.value !== null && playback.isReady.value,
        },
      ),
      toTake(
        "takes.go-to",
        "Go to this take",
        [],
        at(({ take, index }) => playback.seek(take.candidates[index]!.start)),
        {
          isEnabled: () => picked.value !== null,
        },
      ),
    ];
  }, [editor, playback]);
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
          <li key={take.candidates[0]!.start}>
            <fieldset class="take-line">
              <legend dir="auto">{take.line}</legend>
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
            </fieldset>
          </li>
        ))}
      </ul>
    </section>
  );
}

type RowProps = { take: Take; index: number; onMenu(event: MouseEvent): void };

/** A take: chosen if the cut has it. Choosing it plays the cut with it, and so does the button beside it. */
function TakeRow({ take, index, onMenu }: RowProps) {
  const { editor, playback } = useEditor();
  const id = useId();
  const candidate = take.candidates[index]!;
  const { start, end, isComplete, isKept, score } = candidate;
  const isChosen = isKept && take.candidates.findIndex((one) => one.isKept) === index;
  const said = readExcerpt(editor, candidate);
  const facts = [
    formatDuration(Math.floor(toSeconds(start))),
    `${formatDecimal(toSeconds(end - start))} s`,
    !isComplete && explainIncomplete(take.line, said),
    isKept && !isChosen && "also in the cut",
  ];
  return (
    <div class="take">
      <label class="take-choice" onContextMenu={onMenu}>
        <input
          type="radio"
          name={`take ${take.candidates[0]!.start}`}
          checked={isChosen}
          disabled={!editor.canEdit}
          aria-label={`Take ${index + 1}`}
          aria-describedby={id}
          // Space plays and pauses everywhere.
          onKeyDown={(event) => event.key === "Enter" && event.currentTarget.click()}
          // Also plays the take that is chosen already.
          onClick={() => {
            if (!isChosen) selectTake(editor, take, index);
            playTake(editor, playback, take, index);
          }}
        />
        <span id={id}>
          <b>Take {index + 1}</b>
          <span class="soft number"> {facts.filter(Boolean).join(" · ")}</span>
          <span class="take-text" dir="auto">
            {said}
          </span>
        </span>
      </label>
      {score !== null && (
        <span class="soft number" title="How well the words match the line">
          {formatShare(score)} match
        </span>
      )}
      <IconButton
        icon="play"
        label={`Play take ${index + 1}`}
        disabled={!playback.isReady.value}
        onClick={() => playTake(editor, playback, take, index)}
      />
    </div>
  );
}
