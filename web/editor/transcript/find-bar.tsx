import type { ReadonlySignal, Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { findAction, formatKeys, performAction, toKeys } from "../../app/actions";
import { formatCount } from "../../app/format";
import { ActionButton, Button, IconButton } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { type FindOptions, findMatchFrom, type WordRange } from "../model/words";

type FindBarProps = {
  /** The searched text; null while the search is closed. */
  search: Signal<string | null>;
  options: Signal<FindOptions>;
  /** Changes when the field is to have the focus. 0: never yet. */
  asked: number;
  found: readonly WordRange[];
  /** The word at which the search begins. */
  getStart(): number;
  onGo(range: WordRange): void;
  onClose(): void;
  /** The replacement; null while its field is closed. */
  replacement: Signal<string | null>;
  /** Absent for viewers. */
  edit?: { history: ReadonlySignal<unknown>; replaceAll(text: string): void };
  /** Shown beside the field while the search is closed. */
  children: ComponentChildren;
};

const UNDO_ACTIONS = ["edit.undo", "edit.redo"];

/**
 * The search field. Enter selects the next match, Shift+Enter the previous one, and Escape closes the search, which
 * opens with its first character and closes with its last.
 */
export function FindBar(props: FindBarProps) {
  const { search, options, asked, found, getStart, onGo, onClose, replacement, edit, children } = props;
  const input = useRef<HTMLInputElement>(null);
  /** The current match. It is ignored once the search has changed. */
  const [gone, setGone] = useState<{ found: readonly WordRange[]; index: number } | null>(null);
  const current = gone !== null && gone.found === found ? gone.index : -1;
  const isOpen = search.value !== null;
  /** Whether the words were edited since the last input. Then undo and redo are those of the page. */
  const hasEdited = useRef(false);
  const takeUndo = (event: KeyboardEvent): boolean => {
    const name = UNDO_ACTIONS.find((one) => findAction(one)?.keys.includes(toKeys(event)));
    if (name === undefined || !hasEdited.current) return false;
    event.preventDefault();
    performAction(name);
    return true;
  };
  const performEdit = (perform: () => void) => {
    const before = edit?.history.peek();
    perform();
    if (edit?.history.peek() !== before) hasEdited.current = true;
  };
  // A layout effect runs before the next key press.
  useLayoutEffect(() => {
    if (asked === 0) return;
    input.current?.focus();
    input.current?.select();
  }, [asked]);
  const go = (step: 1 | -1) => {
    if (found.length === 0) return;
    const next =
      current === -1 ? findMatchFrom(found, getStart(), step) : (current + step + found.length) % found.length;
    setGone({ found, index: next });
    onGo(found[next]!);
  };
  return (
    <search class={isOpen ? "find-bar open" : "find-bar"}>
      <div class="find-row">
        <Icon name="search" />
        <input
          ref={input}
          class="find-input"
          type="search"
          aria-label="Find words"
          placeholder="Find words"
          value={search.value ?? ""}
          onInput={(event) => {
            const text = event.currentTarget.value;
            hasEdited.current = false;
            search.value = text === "" && replacement.value === null ? null : text;
          }}
          onKeyDown={(event) => {
            if (takeUndo(event)) return;
            if (event.key === "Enter" && event.altKey) performEdit(() => performAction("words.remove-matches"));
            else if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
            else if (event.key === "Escape") onClose();
            else return;
            event.preventDefault();
          }}
        />
        {isOpen && (
          <>
            <span class="soft number" role="status">
              {describeMatches(search.value!, current, found.length)}
            </span>
            <IconButton
              icon="up"
              label="Previous match"
              title="Previous match (Shift + Enter)"
              disabled={found.length === 0}
              onClick={() => go(-1)}
            />
            <IconButton
              icon="down"
              label="Next match"
              title="Next match (Enter)"
              disabled={found.length === 0}
              onClick={() => go(1)}
            />
            <IconButton icon="close" label="Close the search" title="Close the search (Esc)" onClick={onClose} />
          </>
        )}
        {!isOpen && (
          <>
            <span class="key" aria-hidden="true">
              {formatKeys("Mod+f")}
            </span>
            {children}
          </>
        )}
      </div>
      {isOpen && edit && replacement.value !== null && (
        <form
          class="find-row"
          onSubmit={(event) => {
            event.preventDefault();
            if (replacement.value === "") return;
            performEdit(() => edit.replaceAll(replacement.value!));
          }}
        >
          <Icon name="compare" />
          <input
            class="find-input"
            aria-label="Replace with"
            placeholder="Replace in text and subtitles"
            value={replacement.value}
            onInput={(event) => {
              hasEdited.current = false;
              replacement.value = event.currentTarget.value;
            }}
            onKeyDown={(event) => {
              if (!takeUndo(event) && event.key === "Escape") onClose();
            }}
          />
          <Button type="submit" disabled={found.length === 0 || replacement.value === ""}>
            Replace all
          </Button>
        </form>
      )}
      {isOpen && (
        <div class="find-row find-edits">
          <OptionButton options={options} name="matchesCase" label="Match case">
            Aa
          </OptionButton>
          <OptionButton options={options} name="isWhole" label="Whole words">
            Whole words
          </OptionButton>
          <span class="spacer" />
          {edit && replacement.value === null && <ActionButton name="words.replace" look="quiet" />}
          {edit && <ActionButton name="words.remove-matches" class="filled" />}
        </div>
      )}
    </search>
  );
}

type OptionProps = Pick<FindBarProps, "options"> & {
  name: keyof FindOptions;
  label: string;
  children: ComponentChildren;
};

const OptionButton = ({ options, name, label, children }: OptionProps) => (
  <Button
    look="quiet"
    aria-label={label}
    title={label}
    aria-pressed={options.value[name]}
    onClick={() => {
      options.value = { ...options.value, [name]: !options.value[name] };
    }}
  >
    {children}
  </Button>
);

/** Returns "2 of 9", or how many there are before one is selected. */
function describeMatches(text: string, current: number, count: number): string {
  if (text === "") return "";
  if (count === 0) return "No matches";
  return current === -1 ? formatCount(count, "match", "matches") : `${current + 1} of ${count}`;
}
