type SegmentsProps<Value extends string> = {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange(value: NoInfer<Value>): void;
  class?: string;
};

/** A segmented control: a choice among a few visible options. */
export const Segments = <Value extends string>({
  label,
  value,
  options,
  onChange,
  class: className = "",
}: SegmentsProps<Value>) => (
  <fieldset class={`segments ${className}`} aria-label={label}>
    {options.map((option) => (
      <button
        key={option.value}
        type="button"
        class="button"
        aria-pressed={option.value === value}
        onClick={() => onChange(option.value)}
      >
        {option.label}
      </button>
    ))}
  </fieldset>
);
