/** The columns of the audit log. */
import type { Column } from "../../../ui/data-table";
import { RelativeTime } from "../../../ui/relative-time";
import { formatDetails } from "./audit-details";
import { ACTION_TEXTS, type AuditEntry, nameActor, nameTarget } from "./audit-texts";

export const listAuditColumns = (onOpen: (entry: AuditEntry) => void): Column<AuditEntry>[] => [
  { title: "Time", width: "8rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  {
    title: "Action",
    width: "minmax(0, 2fr)",
    cell: (entry) => (
      <button type="button" class="link-button" aria-haspopup="dialog" onClick={() => onOpen(entry)}>
        {ACTION_TEXTS[entry.action] ?? entry.action}
      </button>
    ),
  },
  { title: "By", width: "minmax(0, 2fr)", cell: (entry) => <ActorCell entry={entry} /> },
  { title: "About", width: "minmax(0, 3fr)", cell: (entry) => <TargetCell entry={entry} /> },
];

function ActorCell({ entry }: { entry: AuditEntry }) {
  const name = nameActor(entry);
  return (
    <div class="two-lines">
      <span class={entry.actor.email === null ? "soft truncate" : "truncate"} title={name} dir="auto">
        {name}
      </span>
      {entry.address !== null && <span class="soft truncate">{entry.address}</span>}
    </div>
  );
}

function TargetCell({ entry }: { entry: AuditEntry }) {
  const name = nameTarget(entry);
  const details = formatDetails(entry);
  // Users who changed their own account are already named in the previous column.
  const isSelf = entry.target !== null && entry.target.id === entry.actor.id;
  return (
    <div class="two-lines">
      {!isSelf && name !== "" && (
        <span class="truncate" title={name} dir="auto">
          {name}
        </span>
      )}
      {details !== "" && (
        <span class="soft truncate" title={details} dir="auto">
          {details}
        </span>
      )}
    </div>
  );
}
