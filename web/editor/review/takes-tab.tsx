import { formatTimecode } from "../../app/format";
import { IconButton } from "../../ui/button";
import { toSeconds } from "../model/plan";
import { findContext } from "../model/review-queue";
import { chooseTake, type Take } from "../model/takes";
import { useEditor } from "../state/context";
import { selectTake } from "../state/edit-actions";
import { readExcerpt } from "../state/excerpt";

/** Lists lines that were recorded several times. */
export function TakesTab() {
  const { editor } = useEditor();
  const takes = editor.takes.value;
  if (takes.length === 0) return null;
  return (
    <section class="card panel" aria-labelledby="takes-title">
      <h2 id="takes-title">Takes</h2>
      <ul class="take-lines">
        {takes.map((take) => (
          <TakeLine key={take.candidates[0]!.start} take={take} />
        ))}
      </ul>
    </section>
  );
}

function TakeLine({ take }: { take: Take }) {
  const { editor, playback } = useEditor();
  /** Plays the cut around the line as if the take were chosen. */
  const playInPlace = (line: Take, index: number) => {
    const plan = chooseTake(editor.plan.peek(), line, index);
    playback.playPart(plan, findContext(plan, line.candidates[index]!));
  };
  return (
    <li class="take-line">
      <fieldset>
        <legend dir="auto">{take.line}</legend>
        {take.candidates.map((candidate, index) => (
          <div key={candidate.start} class="take">
            {editor.canEdit ? (
              <label class="check">
                <input
                  type="radio"
                  name={`take-${take.candidates[0]!.start}`}
                  checked={candidate.isKept}
                  onChange={() => selectTake(editor, take, index)}
                />
                <TakeName candidate={candidate} index={index} />
              </label>
            ) : (
              <span>
                <TakeName candidate={candidate} index={index} />
                {candidate.isKept && <span class="soft"> · kept</span>}
              </span>
            )}
            {candidate.score !== null && (
              <span class="soft number" title="Score">
                {Math.round(candidate.score * 100)}
              </span>
            )}
            <IconButton
              icon="play"
              label={`Play take ${index + 1}`}
              disabled={!playback.isReady.value}
              onClick={() => playInPlace(take, index)}
            />
          </div>
        ))}
      </fieldset>
    </li>
  );
}

function TakeName({ candidate, index }: { candidate: Take["candidates"][number]; index: number }) {
  const { editor } = useEditor();
  return (
    <span>
      Take {index + 1}
      <span class="soft number"> at {formatTimecode(toSeconds(candidate.start))}</span>
      {!candidate.isComplete && <span class="soft"> · not complete</span>}
      <span class="take-text" dir="auto">
        {readExcerpt(editor, candidate)}
      </span>
    </span>
  );
}
