import type { Signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../../ui/button";
import { findMatchFrom, type WordRange } from "../model/words";

type FindBarProps = {
  search: Signal<string | null>;
  found: readonly WordRange[];
  /** The word at which the search begins. */
  getStart(): number;
  onGo(range: WordRange): void;
  onClose(): void;
  /** The replacement; null while its field is closed. */
  replacement: Signal<string | null>;
  /** Absent for viewers. */
  edit?: { removeAll(): void; replaceAll(text: string): void };
};

/**
 * A search field with next and previous buttons. Enter selects the next match, Shift+Enter the previous one, and Escape
 * closes it.
 */
export function FindBar({ search, found, getStart, onGo, onClose, replacement, edit }: FindBarProps) {
  const input = useRef<HTMLInputElement>(null);
  /** The current match. It is ignored once the search has changed. */
  const [gone, setGone] = useState<{ found: readonly WordRange[]; index: number } | null>(null);
  const current = gone !== null && gone.found === found ? gone.index : -1;
  const isOpen = search.value !== null;
  // A layout effect runs before the next key press.
  useLayoutEffect(() => {
    if (isOpen) input.current?.focus();
  }, [isOpen]);
  if (search.value === null) return null;
  const go = (step: 1 | -1) => {
    if (found.length === 0) return;
    const next =
      current === -1 ? findMatchFrom(found, getStart(), step) : (current + step + found.length) % found.length;
    setGone({ found, index: next });
    onGo(found[next]!);
  };
  return (
    <search class="find-bar">
      <input
        ref={input}
        class="input"
        type="search"
        aria-label="Find words"
        placeholder="Find"
        value={search.value}
        onInput={(event) => {
          search.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && event.altKey) edit?.removeAll();
          else if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") onClose();
          else return;
          event.preventDefault();
        }}
      />
      <span class="soft number" role="status">
        {search.value === "" ? "" : found.length === 0 ? "None" : `${current + 1} of ${found.length}`}
      </span>
      <Button look="quiet" disabled={found.length === 0} onClick={() => go(-1)}>
        Previous
      </Button>
      <Button look="quiet" disabled={found.length === 0} onClick={() => go(1)}>
        Next
      </Button>
      <IconButton icon="close" label="Close the search" onClick={onClose} />
      {edit && (
        <div class="find-edits">
          {replacement.value === null ? (
            <Button
              look="quiet"
              onClick={() => {
                replacement.value = "";
              }}
            >
              Replace…
            </Button>
          ) : (
            <form
              class="find-replace"
              onSubmit={(event) => {
                event.preventDefault();
                if (replacement.value !== "") edit.replaceAll(replacement.value!);
              }}
            >
              <input
                class="input"
                aria-label="Replace with"
                placeholder="Replace in text and subtitles"
                value={replacement.value}
                onInput={(event) => {
                  replacement.value = event.currentTarget.value;
                }}
                onKeyDown={(event) => {
                  if (event.key === "Escape") onClose();
                }}
              />
              <Button type="submit" disabled={found.length === 0 || replacement.value === ""}>
                Replace all
              </Button>
            </form>
          )}
          <Button icon="cut" disabled={found.length === 0} title="Alt + Enter" onClick={edit.removeAll}>
            Remove all matches
          </Button>
        </div>
      )}
    </search>
  );
}
