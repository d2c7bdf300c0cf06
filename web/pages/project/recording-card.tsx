/** Recordings as cards; on phones, as rows. */
import { useComputed } from "@preact/signals";
import { useCallback, useMemo } from "preact/hooks";
import { canWrite, workspace } from "../../app/session";
import { Avatar } from "../../ui/avatar";
import { useChunks } from "../../ui/row-list";
import { nameOf } from "../asset/use-media";
import type { Recording } from "./recording";
import { RecordingMenu } from "./recording-menu";
import { KeptBar, Lengths, Marks, StateBadge } from "./recording-parts";
import { RecordingPicture } from "./recording-picture";
import type { Selection } from "./selection";

/** Divisible by every number of columns up to six, so that only the last chunk ends with a gap. */
const CHUNK_CARDS = 60;

type CardsProps = {
  items: Recording[];
  selection: Selection;
  /** Must stay the same function between renders. */
  onChange(): void;
};

export function RecordingCards({ items, selection, onChange }: CardsProps) {
  const card = useCallback(
    (recording: Recording) => (
      <RecordingCard key={recording.id} recording={recording} selection={selection} onChange={onChange} />
    ),
    [selection, onChange],
  );
  const isSelecting = useComputed(() => !selection.isEmpty.value).value;
  return (
    <div class={isSelecting ? "recordings selecting" : "recordings"}>
      {useChunks(items, CHUNK_CARDS).map((cards, number) => (
        <Chunk key={number} cards={cards} card={card} />
      ))}
    </div>
  );
}

type ChunkProps = { cards: Recording[]; card(recording: Recording): preact.ComponentChild };

const Chunk = ({ cards, card }: ChunkProps) =>
  useMemo(
    () => (
      <ul class="recording-chunk" style={{ "--cards": cards.length }}>
        {cards.map(card)}
      </ul>
    ),
    [cards, card],
  );

type CardProps = { recording: Recording; selection: Selection; onChange(): void };

function RecordingCard({ recording, selection, onChange }: CardProps) {
  const name = nameOf(recording);
  // A card is rendered again only when its own state changes.
  const isSelected = useComputed(() => selection.has(recording.id));
  const href = `/assets/${recording.id}`;
  const person = recording.created_by;
  return (
    <li class={`recording${isSelected.value ? " selected" : ""}`} data-id={recording.id}>
      {canWrite.value && <PickBox recording={recording} isSelected={isSelected.value} selection={selection} />}
      {/* biome-ignore lint/a11y/useAnchorContent: the heading has the same link. */}
      <a class="recording-art" href={href} tabIndex={-1} aria-hidden="true" onClick={toPick(recording, selection)}>
        <RecordingPicture recording={recording} />
      </a>
      <StateBadge recording={recording} />
      <div class="recording-text">
        <h2>
          <a href={href} title={name} dir="auto" onClick={toPick(recording, selection)}>
            {name}
          </a>
        </h2>
        {canWrite.value && <RecordingMenu recording={recording} onChange={onChange} />}
        <p>
          <Lengths recording={recording} />
          <span class="spacer" />
          <Marks recording={recording} />
          {person && !workspace.value?.is_personal && <Avatar person={person} label="Added by " />}
        </p>
        {recording.state !== "failed" && <KeptBar recording={recording} />}
      </div>
    </li>
  );
}

type PickBoxProps = { recording: Recording; isSelected: boolean; selection: Selection };

export const PickBox = ({ recording, isSelected, selection }: PickBoxProps) => (
  <label class="pick">
    <input
      type="checkbox"
      aria-label={`Select ${nameOf(recording)}`}
      checked={isSelected}
      onClick={(event) => {
        if (!event.shiftKey) return selection.toggle(recording.id);
        selection.extendTo(recording.id);
        // The click changes the box, also that of a recording that was selected before.
        event.currentTarget.checked = selection.has(recording.id);
      }}
    />
  </label>
);

/** A click with Ctrl, ⌘ or Shift selects instead of opening a recording. */
export const toPick =
  ({ id }: Recording, selection: Selection) =>
  (event: MouseEvent): void => {
    if (!canWrite.value || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.shiftKey) selection.extendTo(id);
    else selection.toggle(id);
  };
