import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { MAX_RESOLVED_FINDINGS } from "../../../../src/domain/field-limits";
import type { FileProblem } from "../../../../src/domain/states";
import { api, type Schemas } from "../../../app/api";
import { useOffsetList, useRead } from "../../../app/cache";
import { formatBytes, formatCount, nameOf } from "../../../app/format";
import { showToast } from "../../../app/toasts";
import { isOneOf, useQuery, withoutEmpty } from "../../../app/use-query";
import { Button } from "../../../ui/button";
import { type Column, DataTable, Truncated } from "../../../ui/data-table";
import { ConfirmDialog } from "../../../ui/dialog";
import { Filter, FilterBar, listChoices } from "../../../ui/filter-bar";
import { Section } from "../../../ui/section";
import { Empty, ListSkeleton, ResourceView } from "../../../ui/states";
import { Status } from "../../../ui/status";
import { RelativeTime } from "../../../ui/time";
import { useBusy } from "../../../ui/use-busy";
import { mustAdmin } from "../admin-frame";

type Finding = Schemas["StorageFinding"];
type Checks = Schemas["StorageChecks"];

const PROBLEMS = listChoices<FileProblem>("All problems", {
  missing: "Missing",
  changed: "Changed",
  undecodable: "Cannot be played",
  untracked: "Unknown",
});

const LOOKS: Record<Finding["problem"], string> = {
  missing: "bad",
  changed: "bad",
  undecodable: "bad",
  untracked: "waiting",
};

const nameProblem = (problem: Finding["problem"]): string =>
  PROBLEMS.find(({ value }) => value === problem)?.label ?? problem;

const CHECKS = { problem: isOneOf(PROBLEMS) };

/** The results of the weekly file check. */
export function FileFindings() {
  const checks = useRead(
    ["admin-storage-checks"],
    (signal) => mustAdmin(api.GET("/api/v1/admin/storage/checks", { signal })),
    { refreshMs: 15_000 },
  );
  return (
    <ResourceView resource={checks} skeleton={<ListSkeleton rows={1} />}>
      {(value) => (
        <Section title={toTitle(value)} hint={<Hint checks={value} />}>
          {value.open_findings > 0 && <FindingList onResolved={() => void checks.reload()} />}
        </Section>
      )}
    </ResourceView>
  );
}

function toTitle({ files, open_findings: count }: Checks): string {
  if (count > 0) return `${formatCount(count, "file")} with a problem`;
  return files === 0 ? "Files have not been checked yet" : "No damaged files";
}

const Hint = ({ checks: { files, last_checked_at: last } }: { checks: Checks }) => (
  <>
    {last !== null && (
      <>
        {formatCount(files, "file")} checked so far, most recently <RelativeTime iso={last} />.{" "}
      </>
    )}
    A quarter of all files is checked each week.
  </>
);

function FindingList({ onResolved }: { onResolved(): void }) {
  const [query, change] = useQuery(CHECKS);
  const selection = useSignal<ReadonlySet<string>>(new Set());
  const list = useOffsetList<Finding>(
    ["admin-findings", query],
    (page, signal) => {
      const filters = withoutEmpty(query) as { problem?: Finding["problem"] };
      const params = { query: { ...page, ...filters } };
      return mustAdmin(api.GET("/api/v1/admin/storage/findings", { params, signal }));
    },
    { refreshMs: 15_000 },
  );
  const columns = useMemo(() => listColumns(selection), [selection]);
  const items = list.items.value ?? [];
  const resolved = async () => {
    selection.value = new Set();
    await list.reload();
    onResolved();
  };
  return (
    <>
      <FilterBar>
        <Filter
          label="Problem"
          value={query.problem}
          options={PROBLEMS}
          onChange={(problem) => {
            selection.value = new Set();
            change({ problem });
          }}
        />
        <FindingActions items={items} selection={selection} onResolved={resolved} />
      </FilterBar>
      <DataTable
        caption="Files with a problem"
        columns={columns}
        list={list}
        empty={
          query.problem === "" ? (
            <Empty
              title="No damaged, missing or unknown files"
              icon="check"
              link={{ href: "/admin/health", label: "Show the server's health" }}
            />
          ) : (
            <Empty title="No matching files" icon="search">
              <Button onClick={() => change({ problem: "" })}>Show all problems</Button>
            </Empty>
          )
        }
      />
    </>
  );
}

const listColumns = (selection: Signal<ReadonlySet<string>>): Column<Finding>[] => [
  {
    title: "Selected",
    isTitleHidden: true,
    width: "1.5rem",
    cell: (finding) => <SelectBox finding={finding} selection={selection} />,
  },
  { title: "File", width: "minmax(0, 3fr)", cell: (finding) => <FileCell finding={finding} /> },
  { title: "Problem", width: "minmax(0, 3fr)", cell: (finding) => <ProblemCell finding={finding} /> },
  { title: "Found", width: "7rem", cell: ({ found_at }) => <RelativeTime iso={found_at} /> },
  { title: "Size", width: "5.5rem", isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
];

type SelectBoxProps = { finding: Finding; selection: Signal<ReadonlySet<string>> };

function SelectBox({ finding: { id, path }, selection }: SelectBoxProps) {
  // A row is rendered again only when its own state changes.
  const isSelected = useComputed(() => selection.value.has(id));
  const toggle = () => {
    const next = new Set(selection.value);
    if (!next.delete(id)) next.add(id);
    selection.value = next;
  };
  return (
    <input
      class="finding-check"
      type="checkbox"
      aria-label={`Select ${path}`}
      checked={isSelected.value}
      onChange={toggle}
    />
  );
}

function nameFile({ owner, problem }: Finding): string {
  if (owner === null || problem === "untracked") return "Unknown file";
  return owner.kind === "render" ? "Render" : nameOf(owner);
}

function FileCell({ finding }: { finding: Finding }) {
  const name = nameFile(finding);
  return (
    <div class="two-lines">
      <Truncated text={name} />
      <code class="soft finding-path">{finding.path}</code>
    </div>
  );
}

function ProblemCell({ finding }: { finding: Finding }) {
  const { problem, detail, is_being_restored: isRestoring, restore_error: error } = finding;
  return (
    <div class="two-lines state-cell">
      {isRestoring ? (
        <Status text="Restoring" look="busy" />
      ) : (
        <Status text={nameProblem(problem)} look={LOOKS[problem]} />
      )}
      <span class={error === null ? "soft" : "failure"}>{error ?? detail}</span>
    </div>
  );
}

type Action = Schemas["StorageFinding"]["actions"][number];

type ActionText = {
  label: string;
  done: string;
  /** Null if the action needs no confirmation. */
  confirm: { title(files: string): string; text: string } | null;
};

const TEXTS: Record<Action, ActionText> = {
  restore: { label: "Restore", done: "Restoring from the newest intact backup.", confirm: null },
  accept: {
    label: "Accept",
    done: "Accepted.",
    confirm: {
      title: (files) => `Accept ${files}?`,
      text: "Changed files are treated as correct from now on, and other problems are no longer listed. No file is modified.",
    },
  },
  delete_file: {
    label: "Delete file",
    done: "Deleted.",
    confirm: {
      title: (files) => `Delete ${files}?`,
      text: "Only files that belong to no recording or render are moved to the trash.",
    },
  },
  delete_owner: {
    label: "Delete recording",
    done: "Deleted.",
    confirm: {
      title: (files) => `Delete the recordings of ${files}?`,
      text: "Each recording is deleted with its cuts and renders. For a render, only the render is deleted. This cannot be undone.",
    },
  },
};

const ACTIONS: Action[] = ["restore", "accept", "delete_file", "delete_owner"];

type FindingActionsProps = {
  items: readonly Schemas["StorageFinding"][];
  selection: Signal<ReadonlySet<string>>;
  onResolved(): Promise<void>;
};

/** The actions for the selected files. An action applies to the files that allow it. */
function FindingActions({ items, selection, onResolved }: FindingActionsProps) {
  const [asked, setAsked] = useState<Action | null>(null);
  const { isBusy, run } = useBusy();
  const selected = items.filter(({ id }) => selection.value.has(id));
  const select = (findings: readonly Schemas["StorageFinding"][]) =>
    (selection.value = new Set(findings.map(({ id }) => id)));
  const listAllowing = (action: Action) => selected.filter(({ actions }) => actions.includes(action));

  const resolve = async (action: Action) => {
    const ids = listAllowing(action).map(({ id }) => id);
    const failed: string[] = [];
    for (let n = 0; n < ids.length; n += MAX_RESOLVED_FINDINGS) {
      const body = { action, ids: ids.slice(n, n + MAX_RESOLVED_FINDINGS) };
      const { items } = await mustAdmin(api.POST("/api/v1/admin/storage/findings/resolve", { body }));
      for (const { error } of items) if (error !== null) failed.push(error);
    }
    const [first] = failed;
    if (first === undefined) showToast({ kind: "info", text: TEXTS[action].done });
    else showToast({ kind: "bad", text: `${formatCount(failed.length, "file")} failed: ${first}` });
    await onResolved();
  };
  const start = async (action: Action) => {
    if (TEXTS[action].confirm !== null) return setAsked(action);
    await run(() => resolve(action));
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
              onClick={() => void start(action)}
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
