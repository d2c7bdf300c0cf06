import { api, type Schemas } from "../../../app/api";
import { useRead } from "../../../app/cache";
import { formatBytes, formatCount } from "../../../app/format";
import { Icon } from "../../../ui/icon";
import { ListSkeleton, ResourceView } from "../../../ui/states";
import { mustAdmin } from "../admin-api";

type Totals = Schemas["StorageTotals"];

/** The storage of all workspaces by kind, and the free disk space. */
export function StorageTotals() {
  const totals = useRead(
    ["admin-storage-totals"],
    (signal) => mustAdmin(api.GET("/api/v1/admin/storage/totals", { signal })),
    { refreshMs: 30_000 },
  );
  return (
    <ResourceView resource={totals} skeleton={<ListSkeleton rows={2} />}>
      {(value) => (
        <>
          {value.disk.is_low && (
            <p class="message bad">
              <Icon name="warning" />
              The disk is almost full: uploads, renders and exports are rejected. Recordings are safe. Free some space,
              or lower disk_reserve_bytes.
            </p>
          )}
          <DiskBar totals={value} />
        </>
      )}
    </ResourceView>
  );
}

type Part = { name: string; look: string; bytes: number; about: string };

/** Divides the disk into the space that Offcut uses by kind, space that other programs use, and free space. */
function listParts({ disk, database_bytes: database, trash_bytes: trash, ...totals }: Totals): Part[] {
  // Text is part of the database.
  const own = totals.used_bytes - totals.text_bytes + (database ?? 0) + trash;
  // Unfinished uploads count with their full size, so the sum can exceed the space in use.
  const others = Math.max(0, disk.total_bytes - disk.free_bytes - own);
  const reserve = Math.min(disk.reserve_bytes, disk.free_bytes);
  return [
    {
      name: "Recordings",
      look: "source",
      bytes: totals.source_bytes,
      about: formatCount(totals.recordings, "recording"),
    },
    { name: "Derived files", look: "derived", bytes: totals.derived_bytes, about: "Audio for recognition, previews" },
    { name: "Renders", look: "render", bytes: totals.render_bytes, about: formatCount(totals.renders, "render") },
    { name: "Database", look: "database", bytes: database ?? 0, about: "Plans, transcripts, accounts" },
    { name: "Deleted files", look: "trash", bytes: trash, about: "Kept for 48 hours" },
    { name: "Other files", look: "others", bytes: others, about: "Not used by workspaces" },
    { name: "Free", look: "free", bytes: disk.free_bytes - reserve, about: "For recordings and renders" },
    { name: "Reserve", look: "reserve", bytes: reserve, about: "Kept free for the database" },
  ];
}

function DiskBar({ totals }: { totals: Totals }) {
  const parts = listParts(totals);
  return (
    <section class="card disk" aria-label="Disk">
      <p>
        <strong>{formatBytes(totals.disk.free_bytes)}</strong> free of {formatBytes(totals.disk.total_bytes)},{" "}
        <strong>{formatBytes(totals.used_bytes)}</strong> used by workspaces
      </p>
      <div class="disk-bar" aria-hidden="true">
        {parts.map(({ name, look, bytes }) => (
          <span key={name} class={`disk-${look}`} style={{ "flex-grow": bytes }} />
        ))}
      </div>
      <dl class="disk-legend">
        {parts.map(({ name, look, bytes, about }) => (
          <div key={name}>
            <dt>
              <span class={`disk-key disk-${look}`} />
              {name}
            </dt>
            <dd>
              {formatBytes(bytes)}
              <span class="soft">{about}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
