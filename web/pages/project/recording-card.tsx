/** Recordings as cards; on phones, as rows. */

import { useComputed } from "@preact/signals";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { nameOf } from "../../app/format";
import { narrow } from "../../app/narrow";
import { canWrite, workspace } from "../../app/session";
import { Avatar } from "../../ui/avatar";
import { NearChunks } from "../../ui/near-chunks";
import type { Recording } from "./recording";
import { RecordingMenu } from "./recording-menu";
import { KeptBar, Lengths, Marks, StateBadge } from "./recording-parts";
import { RecordingPicture } from "./recording-picture";
import type { Selection } from "./selection";

const MIN_CARD_PIXELS = 236;
const GAP_PIXELS = 20;
/** A chunk has at least as many cards, in full rows: a frame has time for about as many. */
const CHUNK_CARDS = 4;

type CardsProps = {
  items: Recording[];
  selection: Selection;
  /** Must stay the same function between renders. */
  onChange(): void;
  onView(first: number, last: number): void;
  /** Number of all recordings; -1 while it is unknown. */
  count: number;
};

export function RecordingCards({ items, selection, onChange, onView, count }: CardsProps) {
  const card = useCallback(
    (recording: Recording) => (
      <RecordingCard key={recording.id} recording={recording} selection={selection} onChange={onChange} />
    ),
    [selection, onChange],
  );
  const list = useRef<HTMLDivElement>(null);
  const columns = useColumns(list);
  const isSelecting = useComputed(() => !selection.isEmpty.value).value;
  return (
    <div ref={list} class={isSelecting ? "recordings selecting" : "recordings"} style={{ "--columns": columns }}>
      {columns > 0 && (
        <NearChunks
          as="ul"
          class="recording-chunk"
          rows={items}
          size={columns * Math.ceil(CHUNK_CARDS / columns)}
          row={card}
          count={count}
          onView={onView}
        />
      )}
    </div>
  );
}

/** Returns how many cards fit beside each other; 0 before the element is in the page. */
function useColumns(element: { current: HTMLElement | null }): number {
  const [columns, setColumns] = useState(0);
  useLayoutEffect(() => {
    const read = () => {
      const width = element.current!.clientWidth;
      setColumns(narrow.matches ? 1 : Math.max(1, Math.floor((width + GAP_PIXELS) / (MIN_CARD_PIXELS + GAP_PIXELS))));
    };
    read();
    const sizes = new ResizeObserver(read);
    sizes.observe(element.current!);
    return () => sizes.disconnect();
  }, []);
  return columns;
}

type CardProps = { recording: Recording; selection: Selection; onChange(): void };

function RecordingCard({ recording, selection, onChange }: CardProps) {
  const name = nameOf(recording);
  // A card is rendered again only when its own state changes.
  const isSelected = useComputed(() => selection.has(recording.id));
  const href = `/assets/${recording.id}`;
  const person = recording.created_by;
  return (
    <li class={`recording${isSelected.value ? " selected" : ""}`} data-id={recording.id}>
      <PickBox recording={recording} isSelected={isSelected.value} selection={selection} />
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
    if (!(event.shiftKey || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.shiftKey) selection.extendTo(id);
    else selection.toggle(id);
  };
