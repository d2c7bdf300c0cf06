/** Controls that choose what is shown: a search field, and choices among options. */

import type { ComponentChildren } from "preact";
import { MAX_SEARCH_CHARACTERS } from "../../src/domain/field-limits";
import { toNumber } from "../app/english";
import { useTyping } from "../app/use-query";
import { Icon, type IconName } from "./icon";

export const FilterBar = ({ children }: { children: ComponentChildren }) => (
  <search class="toolbar filter-bar">{children}</search>
);

type SearchFieldProps = { label: string; value: string; onSearch(text: string): void };

/** Calls `onSearch` when the user stops typing. */
export function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const [text, setText] = useTyping(value, onSearch);
  return (
    <input
      class="input search"
      type="search"
      aria-label={label}
      placeholder={label}
      maxLength={MAX_SEARCH_CHARACTERS}
      dir="auto"
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}

/**
 * Returns the options of a filter: all, and each value of a closed set with its label. The compiler asks for the label
 * of a new value.
 */
export const listChoices = <Value extends string>(
  all: string,
  labels: Record<Value, string>,
): { value: string; label: string }[] => [
  { value: "", label: all },
  ...Object.entries<string>(labels).map(([value, label]) => ({ value, label })),
];

type FilterProps = {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange(value: string): void;
};

/** A select field whose first option usually is "all". */
export const Filter = ({ label, value, options, onChange }: FilterProps) => (
  <select
    class="input filter"
    aria-label={label}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  >
    {options.map((option) => (
      <option key={option.value} value={option.value}>
        {option.label}
      </option>
    ))}
  </select>
);

type DateFieldProps = { label: string; value: string; onChange(day: string): void };

/** A field for a day such as `2026-11-22`, or "". */
export const DateField = ({ label, value, onChange }: DateFieldProps) => (
  <label class="date-field">
    <span class="soft">{label}</span>
    <input class="input" type="date" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
  </label>
);

/** With an icon, the label is only its name. `count` is shown after the label. */
type Option<Value> = { value: Value; label: string; icon?: IconName; count?: number | undefined };

type SegmentsProps<Value extends string> = {
  label: string;
  /** The element that describes the choice. */
  hintId?: string;
  value: Value;
  options: readonly Option<Value>[];
  onChange(value: NoInfer<Value>): void;
  class?: string;
  title?: string;
};

/** A segmented control: a choice among a few visible options. */
export const Segments = <Value extends string>({
  label,
  hintId,
  value,
  options,
  onChange,
  class: className = "",
  title,
}: SegmentsProps<Value>) => (
  <fieldset class={`segments ${className}`} aria-label={label} aria-describedby={hintId} title={title}>
    {options.map((option) => (
      <button
        key={option.value}
        type="button"
        class="button"
        aria-pressed={option.value === value}
        aria-label={option.icon && option.label}
        title={option.icon && option.label}
        onClick={() => onChange(option.value)}
      >
        {option.icon ? <Icon name={option.icon} /> : option.label}
        {option.count !== undefined && <span class="soft number">{toNumber(option.count)}</span>}
      </button>
    ))}
  </fieldset>
);
