import { CUT_OPTION_LIMITS, type CutOptions } from "../../../src/domain/plan";
import { Field } from "../../ui/form";
import type { ScriptForm } from "./script-form";

const NUMBERS: { name: keyof typeof CUT_OPTION_LIMITS; label: string }[] = [
  { name: "min_silence_seconds", label: "Cut pauses longer than, s" },
  { name: "padding_before_seconds", label: "Leave before words, s" },
  { name: "padding_after_seconds", label: "Leave after words, s" },
];

const SWITCHES: { name: "remove_fillers" | "remove_retakes"; label: string }[] = [
  { name: "remove_fillers", label: "Remove fillers such as “um”" },
  { name: "remove_retakes", label: "Remove retakes" },
];

/** The options of a cut. Choosing a mode sets all of them. */
export function CutOptionFields({ form }: { form: ScriptForm }) {
  const options = form.options.value;
  const set = (change: Partial<CutOptions>) => {
    form.options.value = { ...form.options.value, ...change };
  };
  return (
    <details class="cut-options">
      <summary>Options</summary>
      <div class="cut-option-fields">
        {NUMBERS.map(({ name, label }) => {
          const { min, max } = CUT_OPTION_LIMITS[name];
          return (
            <Field
              key={name}
              name={name}
              label={label}
              type="number"
              min={min}
              max={max}
              step={0.01}
              value={options[name]}
              onInput={(event) => {
                const value = event.currentTarget.valueAsNumber;
                if (value >= min && value <= max) set({ [name]: value });
              }}
              // An unusable value does not stay in the field.
              onChange={(event) => {
                const input = event.currentTarget;
                const value = input.value === "" ? options[name] : Math.min(max, Math.max(min, input.valueAsNumber));
                input.value = String(value);
                set({ [name]: value });
              }}
            />
          );
        })}
        {SWITCHES.map(({ name, label }) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={options[name]}
              onChange={(event) => set({ [name]: event.currentTarget.checked })}
            />
            {label}
          </label>
        ))}
      </div>
    </details>
  );
}
