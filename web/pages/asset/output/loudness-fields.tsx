/** The loudness of a render: a target with a name, or one's own number. */
import { useState } from "preact/hooks";
import { MAX_LOUDNESS_LUFS, MIN_LOUDNESS_LUFS } from "../../../../src/domain/render-output";
import { Field, SelectField } from "../../../ui/form";
import { AS_RECORDED, LOUDNESS_TARGETS } from "./render-choices";

const OWN = "own";

type LoudnessFieldsProps = { value: string; error?: string | undefined; onChange(value: string): void };

export function LoudnessFields({ value, error, onChange }: LoudnessFieldsProps) {
  /** Null until a number is typed: on the way to -14.5, it is that of a target with a name. */
  const [typed, setTyped] = useState<string | null>(null);
  const isNamed = value === "" || LOUDNESS_TARGETS.some((target) => target.value === value);
  const isOwn = !isNamed || typed === value;
  const change = (text: string, isTyped: boolean) => {
    setTyped(isTyped ? text : null);
    onChange(text);
  };
  return (
    <div class="loudness-fields">
      <SelectField
        label="Loudness"
        value={isOwn ? OWN : value}
        options={[{ value: "", label: AS_RECORDED }, ...LOUDNESS_TARGETS, { value: OWN, label: "Other target" }]}
        onChange={({ currentTarget: { value: chosen } }) => change(chosen === OWN ? value : chosen, chosen === OWN)}
      />
      {isOwn && (
        <Field
          label="Target"
          name="loudness_lufs"
          type="number"
          required
          min={MIN_LOUDNESS_LUFS}
          max={MAX_LOUDNESS_LUFS}
          step="any"
          value={value}
          hint={`LUFS, −${-MIN_LOUDNESS_LUFS} to −${-MAX_LOUDNESS_LUFS}`}
          error={error}
          onInput={(event) => change(event.currentTarget.value, true)}
        />
      )}
    </div>
  );
}
