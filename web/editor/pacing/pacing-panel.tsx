/** Live pacing: the mode, the pauses and the removed kinds of parts, applied in the browser immediately. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { basisFromJson } from "../../../src/domain/pacing/basis-json";
import type { PacingOptions, PlanBasis } from "../../../src/domain/pacing/repace";
import { CUT_MODE_NAMES, CUT_MODES } from "../../../src/domain/plan";
import type { PlanJson } from "../../../src/domain/plan-json";
import { type Action, useActions } from "../../app/actions";
import { useRead } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatDuration } from "../../app/format";
import { toFixedNumber } from "../../app/rare-formats";
import { ActionButton, Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { ErrorPanel } from "../../ui/states";
import type { Content } from "../model/history";
import { getKeptDuration, type RemovalReason, toSeconds } from "../model/plan";
import { countReasons } from "../model/reason-edits";
import { REASON_ICONS } from "../reasons";
import { useEditor } from "../state/context";
import { describeChange } from "../state/edit-actions";
import type { Editor } from "../state/editor-state";
import { MODE_NAMES } from "../versions/name-version";
import { fetchPacing, keepPacing, type Pacing } from "./kept-pacing";
import {
  countPauses,
  createPacer,
  findMode,
  getPadding,
  isSameOptions,
  listPauses,
  type Pacer,
  setPadding,
} from "./pacer";

const isOpen = signal(false);

/** The panel beside the picture. It is always mounted: it has the key that opens it. */
export function PacingPanel() {
  const { editor } = useEditor();
  const canPace = editor.canEdit && editor.cut?.options.mode !== "manual";
  useActions(() => (canPace ? [openAction] : []), [canPace]);
  useEffect(() => keepPacing(editor), [editor]);
  if (!isOpen.value || !canPace || editor.cut === null) return null;
  return (
    <section class="pacing" aria-labelledby="pacing-title">
      <div class="pacing-head">
        <h2 id="pacing-title">Pacing</h2>
        <Button look="quiet" icon="close" class="icon-only" aria-label="Close" title="Close" onClick={close} />
      </div>
      <LoadedPanel key={editor.cut.id} cutId={editor.cut.id} />
    </section>
  );
}

const close = (): void => {
  isOpen.value = false;
};

const openAction: Action = {
  name: "cut.pacing",
  label: "Pacing",
  group: "Editing",
  icon: "sliders",
  keys: ["p"],
  perform: () => {
    isOpen.value = !isOpen.value;
  },
};

/** Opens and closes the panel. */
export const PacingButton = () => (
  <ActionButton name="cut.pacing" look="quiet" class="pacing-button" aria-pressed={isOpen.value} isLabeled />
);

function LoadedPanel({ cutId }: { cutId: string }) {
  const { editor } = useEditor();
  const read = useRead(["explanation", cutId], (signal) => fetchPacing(cutId, signal));
  const state = read.state.value;
  if (state.kind === "loading")
    return (
      <div class="pacing-body" aria-busy="true">
        <div class="skeleton pacing-shape" />
        <div class="skeleton pacing-shape" />
      </div>
    );
  if (state.kind === "failed") return <ErrorPanel {...state} onRetry={() => void read.reload()} />;
  if (state.value === null)
    return (
      <p class="pacing-body soft">This cut was made by an older version of Offcut. Re-cut to change its pacing.</p>
    );
  return <Controls editor={editor} pacing={state.value} />;
}

type Switch = { reason: RemovalReason; name: keyof PacingOptions; label: string };
const SWITCHES: Switch[] = [
  { reason: "silence", name: "remove_pauses", label: "Pauses" },
  { reason: "filler", name: "remove_fillers", label: "Fillers" },
  { reason: "retake", name: "remove_retakes", label: "Retakes" },
  { reason: "off_script", name: "remove_off_script", label: "Off script" },
];

/** The name of a change of the pacing, for undo. */
const PACING_LABEL = "Pacing changed";

function Controls({ editor, pacing }: { editor: Editor; pacing: Pacing }) {
  const basis = useMemo(() => basisFromJson(pacing), [pacing]);
  const pacer = useMemo(
    () => createPacer(editor.cut!.plan as PlanJson, basis, pacing.options),
    [editor, basis, pacing],
  );
  useEffect(() => {
    // Stores the pacing with each step: after a save, steps without options would get different ones.
    editor.adopt((content) => (content.pacing ? content : { ...content, pacing: pacing.options }));
  }, [editor, pacing]);
  const opened = useRef({ options: pacer.getOptions(editor.getSettled()), depth: editor.history.peek().past.length });
  const { present } = editor.history.value;
  const options = pacer.getOptions(present);

  const change = (next: PacingOptions, text: string, isDone = true) => {
    const settled = editor.getSettled();
    const plan = pacer.pace(settled, next);
    if (isDone) editor.apply({ plan, pacing: next }, PACING_LABEL, `${text}, ${describeChange(settled.plan, plan)}`);
    else editor.preview({ plan, pacing: next });
  };
  const cancel: Action = {
    name: "pacing.cancel",
    label: "Cancel the pacing changes",
    group: "Editing",
    keys: ["Escape"],
    perform: () => {
      const hasOpened = () => isSameOptions(pacer.getOptions(editor.getSettled()), opened.current.options);
      editor.cancelPreview();
      if (!hasOpened()) {
        editor.takeBack(PACING_LABEL, opened.current.depth);
        // Edits made after the pacing are kept.
        if (hasOpened()) editor.announce("Pacing unchanged");
        else change(opened.current.options, "Pacing restored");
      }
      close();
    },
  };
  useActions(() => [cancel], [editor, pacer]);

  const kept = getKeptDuration(present.plan);
  const shorter = present.plan.duration - kept;
  return (
    <>
      <div class="pacing-body">
        <Modes pacer={pacer} content={editor.getSettled()} options={options} onChoose={change} />
        <PauseField basis={basis} options={options} content={present} onChange={change} />
        <Slider
          label="Leave before and after words"
          value={getPadding(options)}
          {...{ min: 0, max: 0.6, step: 0.01 }}
          onChange={(value, isDone) =>
            change(setPadding(options, value), `${toNumber(value)} s left beside words`, isDone)
          }
        />
        <ReasonSwitches content={present} basis={basis} options={options} onChange={change} />
        <p class="soft pacing-note">Your edits, corrections, takes and review decisions are kept.</p>
      </div>
      <div class="pacing-foot">
        <p>
          <strong class="number">{formatDuration(toSeconds(kept))}</strong>
          <span class="soft number">{formatDuration(toSeconds(shorter))} shorter</span>
        </p>
        <Button
          disabled={isSameOptions(options, pacing.options)}
          onClick={() => change(pacing.options, "Pacing reset")}
        >
          Reset
        </Button>
        <Button look="primary" onClick={close}>
          Done
        </Button>
      </div>
    </>
  );
}

type OnChange = (options: PacingOptions, text: string, isDone?: boolean) => void;

type ModesProps = { pacer: Pacer; content: Content; options: PacingOptions; onChoose: OnChange };

/** The three modes, each with the length of its cut. */
function Modes({ pacer, content, options, onChoose }: ModesProps) {
  const origin = pacer.findOrigin(content);
  const lengths = useMemo(
    () => CUT_MODE_NAMES.map((mode) => ({ mode, kept: pacer.measure(content, { ...options, ...CUT_MODES[mode] }) })),
    [origin, options.remove_off_script, options.remove_pauses],
  );
  const chosen = findMode(options);
  return (
    <fieldset class="mode-cards" aria-label="Mode">
      {lengths.map(({ mode, kept }) => (
        <button
          key={mode}
          type="button"
          aria-pressed={mode === chosen}
          onClick={() => onChoose({ ...options, ...CUT_MODES[mode] }, MODE_NAMES[mode])}
        >
          <span>{MODE_NAMES[mode]}</span> <strong class="number">{formatDuration(toSeconds(kept))}</strong>{" "}
          <span class="soft number">−{formatDuration(toSeconds(content.plan.duration - kept))}</span>
        </button>
      ))}
    </fieldset>
  );
}

const [MIN_PAUSE, MAX_PAUSE, BINS] = [0.1, 3, 29];

type PauseProps = { basis: PlanBasis; options: PacingOptions; content: Content; onChange: OnChange };

/** The shortest pause that is cut, below a histogram of all pauses. */
function PauseField({ basis, options, content, onChange }: PauseProps) {
  const pauses = useMemo(() => listPauses(basis, content.plan.duration), [basis]);
  const counts = useMemo(() => countPauses(pauses, MIN_PAUSE, MAX_PAUSE, BINS), [pauses]);
  const highest = Math.max(1, ...counts);
  const limit = options.min_silence_seconds;
  const removed = countReasons(content.plan).get("silence");
  const step = (MAX_PAUSE - MIN_PAUSE) / BINS;
  return (
    <Slider
      label="Cut pauses longer than"
      value={limit}
      {...{ min: MIN_PAUSE, max: MAX_PAUSE, step: 0.05 }}
      isDisabled={!options.remove_pauses}
      onChange={(value, isDone) =>
        onChange({ ...options, min_silence_seconds: value }, `Pauses longer than ${toNumber(value)} s are cut`, isDone)
      }
      before={
        <svg class="pauses" viewBox={`0 0 ${BINS} 1`} preserveAspectRatio="none" aria-hidden="true">
          {counts.map((count, bin) => {
            const height = count === 0 ? 0 : Math.max(0.03, count / highest);
            const isCut = options.remove_pauses && MIN_PAUSE + (bin + 0.5) * step >= limit;
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: the bins stay in place.
              <rect
                key={bin}
                class={isCut ? "is-cut" : undefined}
                x={bin}
                y={1 - height}
                width={0.85}
                height={height}
              />
            );
          })}
        </svg>
      }
      after={
        <span class="soft">
          {removed?.count ?? 0} of {pauses.filter((pause) => pause >= MIN_PAUSE).length} pauses,{" "}
          {formatDuration(toSeconds(removed?.time ?? 0))} saved
        </span>
      }
    />
  );
}

type SwitchesProps = { content: Content; basis: PlanBasis; options: PacingOptions; onChange: OnChange };

function ReasonSwitches({ content, basis, options, onChange }: SwitchesProps) {
  const totals = countReasons(content.plan);
  const found = useMemo(() => new Set<RemovalReason | null>(basis.spans.map(({ reason }) => reason)), [basis]);
  return (
    <fieldset class="pacing-switches" aria-label="What is removed">
      {SWITCHES.filter(({ reason }) => reason === "silence" || found.has(reason)).map(({ reason, name, label }) => {
        const total = totals.get(reason);
        const isOn = options[name] === true;
        return (
          <label key={reason} class={`pacing-switch ${reason}`}>
            <input
              type="checkbox"
              class="switch"
              checked={isOn}
              onChange={({ currentTarget: { checked } }) =>
                onChange({ ...options, [name]: checked }, `${label} ${checked ? "removed" : "kept"}`)
              }
            />
            <Icon name={REASON_ICONS[reason]} />
            <span>{label}</span>
            <span class="soft number">
              {total === undefined ? "0" : `${total.count} · ${formatDuration(toSeconds(total.time))}`}
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}

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
function Slider({ label, value, min, max, step, isDisabled = false, before, after, onChange }: SliderProps) {
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
