import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ApiError, api, must } from "../../app/api";
import { formatCount } from "../../app/format";
import { canWrite, isBilled } from "../../app/session";
import { MAX_SEARCH_LENGTH } from "../../app/use-query";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";

export type AssetSort = "created_at" | "-created_at" | "name" | "-name" | "duration_seconds" | "-duration_seconds";

const SORTS: { value: AssetSort; label: string }[] = [
  { value: "-created_at", label: "Newest first" },
  { value: "created_at", label: "Oldest first" },
  { value: "name", label: "Name, A to Z" },
  { value: "-name", label: "Name, Z to A" },
  { value: "-duration_seconds", label: "Longest first" },
  { value: "duration_seconds", label: "Shortest first" },
];

type AssetToolbarProps = {
  text: string;
  sort: AssetSort;
  selection: Signal<ReadonlySet<string>>;
  onText(text: string): void;
  onSort(sort: AssetSort): void;
  onDeleted(): void;
};

/** Deletes a recording. Succeeds if somebody else has already deleted it. */
async function deleteAsset(id: string): Promise<void> {
  try {
    await must(api.DELETE("/api/v1/assets/{asset_id}", { params: { path: { asset_id: id } } }));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

/** Search, sort order, and actions for the selected recordings. */
export function AssetToolbar({ text, sort, selection, onText, onSort, onDeleted }: AssetToolbarProps) {
  const [isDeleting, setIsDeleting] = useState(false);
  const selected = [...selection.value];
  return (
    <div class="toolbar">
      <input
        class="input search"
        type="search"
        maxLength={MAX_SEARCH_LENGTH}
        aria-label="Search recordings"
        placeholder="Search"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <select
        class="input sort"
        aria-label="Sort by"
        value={sort}
        onChange={(event) => onSort(event.currentTarget.value as AssetSort)}
      >
        {SORTS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <span class="spacer" />
      {selected.length > 0 && canWrite.value && (
        <>
          <span class="soft">{formatCount(selected.length, "recording")} selected</span>
          <Button look="quiet" onClick={() => (selection.value = new Set())}>
            Clear
          </Button>
          <Button icon="trash" look="danger" onClick={() => setIsDeleting(true)}>
            Delete
          </Button>
        </>
      )}
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${formatCount(selected.length, "recording")}?`}
          confirmLabel="Delete"
          onConfirm={async () => {
            for (const id of selected) {
              await deleteAsset(id);
              selection.value = new Set([...selection.value].filter((one) => one !== id));
            }
            onDeleted();
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            Their files, cuts and renders are deleted from the server's disk.
            {isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
