import { toNumber } from "../app/english";
import { Icon, type IconName } from "./icon";

/** With an icon, the label is only its name. `count` is shown after the label. */
type Option<Value> = { value: Value; label: string; icon?: IconName; count?: number | undefined };

type SegmentsProps<Value extends string> = {
  label: string;
  value: Value;
  options: readonly Option<Value>[];
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
