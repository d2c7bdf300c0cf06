import { useId, useRef, useState } from "preact/hooks";
import { MAX_TERM_CHARACTERS, type VocabularyEntry } from "../../../src/domain/vocabulary/entries";
import { parseVocabularyFile } from "../../../src/domain/vocabulary/parse-file";
import { useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { showFailure, showToast } from "../../app/toasts";
import {
  addEntries,
  changeVocabulary,
  readVocabulary,
  type VocabularyOwner,
  vocabularyKey,
} from "../../app/vocabulary";
import { Button, IconButton } from "../../ui/button";
import { Field } from "../../ui/field";
import { Form } from "../../ui/form";
import { ResourceView } from "../../ui/states";

/** Rows that are shown before somebody asks for all of them. */
const MAX_SHOWN = 50;
/** The server accepts fewer characters. */
const MAX_FILE_BYTES = 2_000_000;

type VocabularyListProps = { owner: VocabularyOwner; canEdit: boolean };

/** The entries of a vocabulary. Each change is saved at once. */
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

/** Splits text such as `off cut, of cut`. */
const splitForms = (text: string): string[] =>
  text
    .split(",")
    .map((form) => form.trim())
    .filter(Boolean);

function NewEntry({ owner }: { owner: VocabularyOwner }) {
  // Changes to empty the fields.
  const [added, setAdded] = useState(0);
  return (
    <Form
      key={added}
      class="vocabulary-form"
      onSend={async ({ term = "", forms = "" }) => {
        await changeVocabulary(owner, (entries) => addEntries(entries, [{ text: term, spoken_as: splitForms(forms) }]));
        setAdded(added + 1);
      }}
    >
      {({ isSending }) => (
        <>
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
          <div class="toolbar">
            <Button type="submit" look="primary" icon="plus" isBusy={isSending}>
              Add
            </Button>
            <ImportButton owner={owner} />
          </div>
        </>
      )}
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
    if (file.size > MAX_FILE_BYTES) return setProblem(`“${file.name}” is larger than 2 MB.`);
    const parsed = parseVocabularyFile(await file.text());
    if (parsed.problem) return setProblem(`Line ${parsed.problem.line} of “${file.name}”: ${parsed.problem.message}.`);
    const { entries: added } = parsed;
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
      <span class="hint" id={id}>
        A term a line, or CSV
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
  if (entries.length === 0) return <p class="soft">No terms yet.</p>;
  const sorted = entries.toSorted((a, b) => a.text.localeCompare(b.text));
  const shown = isWhole ? sorted : sorted.slice(0, MAX_SHOWN);
  const remove = (text: string): void => {
    changeVocabulary(owner, (all) => all.filter((entry) => entry.text !== text)).catch(showFailure);
  };
  return (
    <>
      <ul class="vocabulary-entries" aria-label="Terms">
        {shown.map(({ text, spoken_as }) => (
          <li key={text}>
            <span class="vocabulary-term" dir="auto">
              {text}
            </span>
            <span class="soft" dir="auto">
              {spoken_as.join(", ")}
            </span>
            {canEdit && <IconButton icon="trash" label={`Remove ${text}`} onClick={() => remove(text)} />}
          </li>
        ))}
      </ul>
      {sorted.length > shown.length && (
        <Button onClick={() => setIsWhole(true)}>Show all {formatCount(sorted.length, "term")}</Button>
      )}
    </>
  );
}
