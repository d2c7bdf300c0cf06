/** Recordings as a list with columns. */
import { useComputed } from "@preact/signals";
import { useCallback, useMemo } from "preact/hooks";
import type { PagedList } from "../../app/cache";
import { formatBytes, nameOf } from "../../app/format";
import { canWrite, workspace } from "../../app/session";
import { PersonCell } from "../../ui/avatar";
import { type Column, createActionsColumn, DataTable } from "../../ui/data-table";
import { JobStatus } from "../../ui/status";
import { RelativeTime } from "../../ui/time";
import { COLUMNS, type ColumnName, libraryView } from "./library-view";
import type { Recording } from "./recording";
import { PickBox, toPick } from "./recording-card";
import { RecordingMenu } from "./recording-menu";
import { KeptBar, Lengths, Marks, StateBadge } from "./recording-parts";
import { RecordingPicture } from "./recording-picture";
import type { Selection } from "./selection";

type TableProps = {
  list: PagedList<Recording>;
  selection: Selection;
  /** Must stay the same function between renders. */
  onChange(): void;
  onView(first: number, last: number): void;
  /** Number of all recordings; -1 while it is unknown. */
  count: number;
};

/** The columns that users choose. */
const CHOSEN: Record<ColumnName, Omit<Column<Recording>, "title">> = {
  length: {
    width: "minmax(8.5rem, 1fr)",
    cell: (recording) => (
      <span class="length-cell">
        <Lengths recording={recording} />
        {recording.state !== "failed" && <KeptBar recording={recording} />}
      </span>
    ),
  },
  marks: { width: "5.5rem", cell: (recording) => <Marks recording={recording} /> },
  render: {
    width: "minmax(7rem, 0.7fr)",
    cell: ({ last_render: render }) =>
      render === null ? null : render.state === "completed" && render.completed_at !== null ? (
        <RelativeTime iso={render.completed_at} />
      ) : (
        <JobStatus state={render.state} />
      ),
  },
  creator: {
    width: "minmax(6rem, 0.8fr)",
    cell: ({ created_by: person }) => person && <PersonCell person={person} />,
  },
  added: { width: "minmax(6rem, 0.7fr)", cell: ({ created_at: time }) => <RelativeTime iso={time} /> },
  size: { width: "5rem", isNumber: true, cell: ({ size_bytes: bytes }) => bytes !== null && formatBytes(bytes) },
  tags: {
    width: "minmax(6rem, 1fr)",
    cell: ({ tags }) =>
      tags.length > 0 && (
        <span class="truncate block" title={tags.join(", ")}>
          {tags.join(", ")}
        </span>
      ),
  },
};

export function RecordingTable({ list, selection, onChange, onView, count }: TableProps) {
  const chosen = libraryView.value.columns;
  const isWriter = canWrite.value;
  const isPersonal = workspace.value?.is_personal === true;
  const columns = useMemo<Column<Recording>[]>(
    () => [
      {
        title: "Recording",
        width: "minmax(12rem, 2.4fr)",
        cell: (recording) => <NameCell recording={recording} selection={selection} />,
      },
      ...COLUMNS.filter(({ value }) => chosen.includes(value) && !(value === "creator" && isPersonal)).map(
        ({ value, label }) => ({
          title: label,
          ...CHOSEN[value],
        }),
      ),
      createActionsColumn(
        "2rem",
        (recording) => isWriter && <RecordingMenu recording={recording} onChange={onChange} />,
      ),
    ],
    [chosen, isWriter, isPersonal, selection, onChange],
  );
  const rowClass = useCallback(({ id }: Recording) => (selection.has(id) ? "selected" : ""), [selection]);
  return (
    <div class="recording-table">
      <DataTable
        caption="Recordings"
        columns={columns}
        list={list}
        rowClass={rowClass}
        empty={null}
        onView={onView}
        count={count}
      />
    </div>
  );
}

function NameCell({ recording, selection }: { recording: Recording; selection: Selection }) {
  const isSelected = useComputed(() => selection.has(recording.id));
  const name = nameOf(recording);
  return (
    <span class="recording-name" data-id={recording.id}>
      <PickBox recording={recording} isSelected={isSelected.value} selection={selection} />
      <RecordingPicture recording={recording} hasTime={false} />
      <span class="name-text">
        <a
          class="truncate"
          href={`/assets/${recording.id}`}
          title={name}
          dir="auto"
          onClick={toPick(recording, selection)}
        >
          {name}
        </a>
        <StateBadge recording={recording} />
      </span>
    </span>
  );
}
