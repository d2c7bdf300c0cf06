import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { api, type Schemas } from "../../../app/api";
import { formatCount } from "../../../app/format";
import { showFailure, showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { ConfirmDialog } from "../../../ui/confirm-dialog";
import { mustAdmin } from "../admin-api";

type Action = Schemas["StorageFinding"]["actions"][number];

type ActionText = {
  label: string;
  done: string;
  /** Null if the action needs no confirmation. */
  confirm: { title(files: string): string; text: string } | null;
};

const TEXTS: Record<Action, ActionText> = {
  restore: { label: "Restore", done: "Restoring from the newest backup with the right content.", confirm: null },
  accept: {
    label: "Accept",
    done: "Accepted.",
    confirm: {
      title: (files) => `Accept ${files}?`,
      text: "Changed content is accepted as correct, and other problems are hidden. Files are not modified.",
    },
  },
  delete_file: {
    label: "Delete file",
    done: "Deleted.",
    confirm: {
      title: (files) => `Delete ${files}?`,
      text: "Files that belong to no recording and no render are deleted.",
    },
  },
  delete_owner: {
    label: "Delete recording",
    done: "Deleted.",
    confirm: {
      title: (files) => `Delete the recordings of ${files}?`,
      text: "Each recording is deleted with its cuts and renders. A render is deleted alone. This cannot be undone.",
    },
  },
};

const ACTIONS: Action[] = ["restore", "accept", "delete_file", "delete_owner"];

/** Maximum number of files in one request. */
const MAX_IDS = 100;

type FindingActionsProps = {
  items: readonly Schemas["StorageFinding"][];
  selection: Signal<ReadonlySet<string>>;
  onResolved(): Promise<void>;
};

/** The actions for the selected files. An action applies to the files that allow it. */
export function FindingActions({ items, selection, onResolved }: FindingActionsProps) {
  const [asked, setAsked] = useState<Action | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const selected = items.filter(({ id }) => selection.value.has(id));
  const select = (findings: readonly Schemas["StorageFinding"][]) =>
    (selection.value = new Set(findings.map(({ id }) => id)));
  const listAllowing = (action: Action) => selected.filter(({ actions }) => actions.includes(action));

  const resolve = async (action: Action) => {
    const ids = listAllowing(action).map(({ id }) => id);
    const failed: string[] = [];
    for (let n = 0; n < ids.length; n += MAX_IDS) {
      const body = { action, ids: ids.slice(n, n + MAX_IDS) };
      const { items } = await mustAdmin(api.POST("/api/v1/admin/storage/findings/resolve", { body }));
      for (const { error } of items) if (error !== null) failed.push(error);
    }
    const [first] = failed;
    if (first === undefined) showToast({ kind: "info", text: TEXTS[action].done });
    else showToast({ kind: "bad", text: `${formatCount(failed.length, "file")} failed: ${first}` });
    await onResolved();
  };
  const run = async (action: Action) => {
    if (TEXTS[action].confirm !== null) return setAsked(action);
    setIsBusy(true);
    await resolve(action).catch(showFailure);
    setIsBusy(false);
  };
  const confirm = asked && TEXTS[asked].confirm;
  return (
    <>
      <span class="spacer" />
      {selected.length === 0 ? (
        <Button look="quiet" disabled={items.length === 0} onClick={() => select(items)}>
          Select all
        </Button>
      ) : (
        <>
          <span class="soft">{formatCount(selected.length, "file")} selected</span>
          <Button look="quiet" onClick={() => select([])}>
            Clear
          </Button>
          {ACTIONS.filter((action) => listAllowing(action).length > 0).map((action) => (
            <Button
              key={action}
              look={action.startsWith("delete") ? "danger" : "default"}
              isBusy={isBusy && action === "restore"}
              onClick={() => void run(action)}
            >
              {TEXTS[action].label}
            </Button>
          ))}
        </>
      )}
      {asked && confirm && (
        <ConfirmDialog
          title={confirm.title(formatCount(listAllowing(asked).length, "file"))}
          confirmLabel={TEXTS[asked].label}
          onConfirm={() => resolve(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{confirm.text}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
