import { useId, useRef, useState } from "preact/hooks";
import { decodeUnicode } from "../../../src/domain/text/decode";
import { MAX_TERM_CHARACTERS, type VocabularyEntry } from "../../../src/domain/vocabulary/entries";
import { parseVocabularyFile } from "../../../src/domain/vocabulary/parse-file";
import { afterNextFrame } from "../../app/after-next-frame";
import { useRead } from "../../app/cache";
import { formatBytes, formatCount } from "../../app/format";
import { splitList } from "../../app/rare-formats";
import { showFailure, showToast } from "../../app/toasts";
import {
  addEntries,
  changeVocabulary,
  readVocabulary,
  type VocabularyOwner,
  vocabularyKey,
} from "../../app/vocabulary";
import { Button, IconButton } from "../../ui/button";
import { Field, Form } from "../../ui/form";
import { ResourceView } from "../../ui/states";

/** Rows that are shown before somebody asks for all of them. */
const MAX_SHOWN = 50;
/** The server accepts fewer characters. */
const MAX_FILE_BYTES = 2_000_000;

type VocabularyListProps = { owner: VocabularyOwner; canEdit: boolean };

/** The entries of a vocabulary. Each change is saved immediately. */
export function VocabularyList({ owner, canEdit }: VocabularyListProps) {
  const vocabulary = useRead(vocabularyKey(owner), (signal) => readVocabulary(owner, signal));
  return (
    <div class="vocabulary">
      {canEdit && <NewEntry owner={owner} />}
      <ResourceView resource={vocabulary}>
        {({ entries }) => <Entries owner={owner} entries={entries} canEdit={canEdit} />}
      </ResourceView>
    </div>
  );
}

function NewEntry({ owner }: { owner: VocabularyOwner }) {
  // Changes to empty the fields.
  const [added, setAdded] = useState(0);
  return (
    <Form
      submitLabel="Add"
      look="default"
      icon="plus"
      footer={(submit) => (
        <div class="toolbar">
          {submit}
          <ImportButton owner={owner} />
        </div>
      )}
      key={added}
      class="vocabulary-form"
      onSend={async ({ term = "", forms = "" }) => {
        await changeVocabulary(owner, (entries) => addEntries(entries, [{ text: term, spoken_as: splitList(forms) }]));
        setAdded(added + 1);
      }}
    >
      <div class="vocabulary-fields">
        <Field
          label="Name or term"
          name="term"
          required
          maxLength={MAX_TERM_CHARACTERS}
          spellcheck={false}
          isFirst={added > 0}
        />
        <Field
          label="Recognized as"
          name="forms"
          hint="Optional. Separate several forms with commas."
          spellcheck={false}
        />
      </div>
    </Form>
  );
}

/** Adds the entries of a text or CSV file. */
function ImportButton({ owner }: { owner: VocabularyOwner }) {
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  const importFile = async (file: File): Promise<void> => {
    setProblem(null);
    if (file.size > MAX_FILE_BYTES) return setProblem(`“${file.name}” is larger than ${formatBytes(MAX_FILE_BYTES)}.`);
    const text = decodeUnicode(new Uint8Array(await file.arrayBuffer()));
    if (text.includes("\0")) return setProblem(`“${file.name}” is not a text file.`);
    const { entries: added, problem } = parseVocabularyFile(text);
    if (problem !== null) {
      const { line, message } = problem;
      return setProblem(line === null ? `“${file.name}” ${message}.` : `Line ${line} of “${file.name}”: ${message}.`);
    }
    try {
      await changeVocabulary(owner, (entries) => addEntries(entries, added));
      showToast({ kind: "info", text: `${formatCount(added.length, "term")} from “${file.name}” added.` });
    } catch (error) {
      showFailure(error);
    }
  };
  return (
    <>
      <Button icon="upload" aria-describedby={id} onClick={() => input.current?.click()}>
        Import file
      </Button>
      <input
        ref={input}
        type="file"
        accept=".txt,.csv,text/plain,text/csv"
        hidden
        aria-label="Vocabulary file"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file) void importFile(file);
          currentTarget.value = "";
        }}
      />
      <span class="soft" id={id}>
        One term per line, or CSV
      </span>
      <p role="alert" class="field-error vocabulary-problem">
        {problem}
      </p>
    </>
  );
}

type EntriesProps = VocabularyListProps & { entries: readonly VocabularyEntry[] };

function Entries({ owner, entries, canEdit }: EntriesProps) {
  const [isWhole, setIsWhole] = useState(false);
  const [removed, setRemoved] = useState<VocabularyEntry | null>(null);
  const area = useRef<HTMLDivElement>(null);
  const sorted = entries.toSorted((a, b) => a.text.localeCompare(b.text));
  const shown = isWhole ? sorted : sorted.slice(0, MAX_SHOWN);
  /** Saves a change, and then moves the focus to the button of a term, or to "Undo" without one. */
  const save = async (
    change: Parameters<typeof changeVocabulary>[1],
    undone: VocabularyEntry | null,
    next: string | undefined,
  ): Promise<void> => {
    try {
      await changeVocabulary(owner, change);
    } catch (error) {
      return showFailure(error);
    }
    setRemoved(undone);
    afterNextFrame(() => {
      const buttons = [...(area.current?.querySelectorAll<HTMLElement>("[data-term]") ?? [])];
      const button = buttons.find(({ dataset }) => dataset.term === next);
      (button ?? area.current?.querySelector<HTMLElement>("button"))?.focus();
    });
  };
  const remove = (entry: VocabularyEntry, row: number): Promise<void> =>
    save((all) => all.filter(({ text }) => text !== entry.text), entry, (shown[row + 1] ?? shown[row - 1])?.text);
  const restore = (entry: VocabularyEntry): Promise<void> => save((all) => addEntries(all, [entry]), null, entry.text);
  return (
    <div class="vocabulary" ref={area}>
      {/* Not a toast: a dialog would cover it. */}
      <div role="status" class="toolbar vocabulary-removed">
        {removed && (
          <>
            <span dir="auto">“{removed.text}” was removed.</span>
            <Button icon="undo" onClick={() => void restore(removed)}>
              Undo
            </Button>
          </>
        )}
      </div>
      {entries.length === 0 ? (
        <p class="soft">No terms yet.</p>
      ) : (
        <ul class="vocabulary-entries" aria-label="Terms">
          {shown.map(({ text, spoken_as }, row) => (
            <li key={text}>
              <span class="vocabulary-term" dir="auto">
                {text}
              </span>
              <span class="soft" dir="auto">
                {spoken_as.join(", ")}
              </span>
              {canEdit && (
                <IconButton
                  icon="trash"
                  label={`Remove ${text}`}
                  data-term={text}
                  onClick={() => void remove({ text, spoken_as }, row)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {sorted.length > shown.length && (
        <Button onClick={() => setIsWhole(true)}>Show all {formatCount(sorted.length, "term")}</Button>
      )}
    </div>
  );
}
