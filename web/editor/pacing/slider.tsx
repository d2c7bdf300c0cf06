import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { toFixedNumber } from "../../app/rare-formats";

type SliderProps = {
  label: string;
  /** Value in seconds. */
  value: number;
  min: number;
  max: number;
  step: number;
  isDisabled?: boolean;
  /** Above and below the slider. */
  before?: ComponentChildren;
  after?: ComponentChildren;
  /** `isDone`: the user has let go. */
  onChange(value: number, isDone: boolean): void;
};

/** A labeled slider of seconds, which shows its value. */
export function Slider({ label, value, min, max, step, isDisabled = false, before, after, onChange }: SliderProps) {
  const id = useId();
  const text = `${toFixedNumber(value, 2)} s`;
  return (
    <div class="slider-field">
      <div class="slider-label">
        <label for={id}>{label}</label>
        <output for={id} class="number">
          {text}
        </output>
      </div>
      {before}
      <input
        id={id}
        type="range"
        {...{ min, step }}
        max={Math.max(max, value)}
        value={value}
        disabled={isDisabled}
        aria-valuetext={text}
        onInput={(event) => onChange(Number(event.currentTarget.value), false)}
        onChange={(event) => onChange(Number(event.currentTarget.value), true)}
      />
      {after}
    </div>
  );
}
