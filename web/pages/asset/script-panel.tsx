import { useEffect, useId, useRef, useState } from "preact/hooks";
import { CUT_OPTION_LIMITS, type CutOptions, MANUAL_MODE } from "../../../src/domain/plan";
import { MAX_SCRIPT_CHARACTERS } from "../../../src/domain/planning/scripted/script-limits";
import { ApiError, api, must } from "../../app/api";
import { toNumber } from "../../app/english";
import { showFailure, showToast } from "../../app/toasts";
import { openTab, useEditor } from "../../editor/state/context";
import { TranscribedLanguage } from "../../editor/transcript/language-note";
import { MODES } from "../../editor/versions/name-version";
import { Button } from "../../ui/button";
import { Segments } from "../../ui/filter-bar";
import { Field } from "../../ui/form";
import { focusHeading } from "../../ui/page";
import { ErrorMessage } from "../../ui/states";
import { isScript, SCRIPT_TYPES } from "../../upload/recording-types";
import { MODE_HINTS, PlannedMode } from "./planned-cut";
import { readScript, type ScriptForm } from "./script";

export const PLANNED = "Cut after upload";

/**
 * The script, mode and options, and the button that makes a cut from them. Before a recording can be cut, the cut is
 * planned.
 */
export function ScriptPanel() {
  const { asset, cut, cuts, form, editor, save, recut } = useEditor();
  const isMaking = cuts.awaited !== null;
  const isRecut = cut !== null && (editor.canEdit || isMaking);
  const [isSending, setIsSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // The first cut that is opened fills in its script and options, unless the user has entered a script.
  useEffect(() => {
    if (cut === null || form.hasOwnScript.value || cut.options.mode === MANUAL_MODE) return;
    form.script.value = cut.script;
    form.options.value = cut.options;
  }, [cut?.id]);

  // The script of a cut that was planned and waits.
  useEffect(() => {
    if (cut !== null || form.hasOwnScript.value) return;
    api
      .GET("/api/v1/assets/{asset_id}/cut-after-upload", { params: { path: { asset_id: asset.id } } })
      .then(({ data }) => {
        if (form.script.value === "") form.script.value = data?.script ?? "";
      })
      .catch(() => {});
  }, [asset.id, cut?.id]);

  const make = async () => {
    setIsSending(true);
    setError(null);
    try {
      const body = { asset_id: asset.id, script: form.script.value, options: form.options.value };
      // Edits are kept from a stored cut.
      const kept = isRecut ? await save.save() : null;
      if (isRecut && kept === null) return;
      const made = await must(
        api.POST("/api/v1/cuts", { body: kept === null ? body : { ...body, keep_edits_of: kept } }),
      );
      if (kept === null) cuts.choose(made.id);
      else recut(made.id, kept);
      openTab.value = "transcript";
      focusHeading();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setIsSending(false);
    }
  };

  return (
    <section class="panel" aria-labelledby="script-title">
      <h2 id="script-title">
        {asset.cuttable ? (cut === null ? "Make the first cut" : "Script and options") : PLANNED}
      </h2>
      <ScriptField form={form} onError={setError} />
      {asset.cuttable ? <CutChoices form={form} isFirst={cut === null} /> : <PlannedMode asset={asset} form={form} />}
      <ErrorMessage error={error} />
      {asset.cuttable && (
        <Button
          look={isRecut ? "default" : "primary"}
          class="filled"
          icon="cut"
          isBusy={isSending || isMaking}
          onClick={() => void make()}
        >
          {isRecut ? "Re-cut (keeps your edits)" : "Make cut"}
        </Button>
      )}
    </section>
  );
}

const toUnreadable = (error: unknown): ApiError =>
  new ApiError(error instanceof Error ? error.message : String(error), "unreadable", 0);

/** Uses a text file that is dropped on the page as the recording's script. */
export function useDroppedScript(form: ScriptForm, isEnabled: boolean): void {
  useEffect(() => {
    if (!isEnabled) return;
    const onDrop = (event: DragEvent) => {
      const [file, ...others] = event.dataTransfer?.files ?? [];
      if (event.defaultPrevented || file === undefined || others.length > 0 || !isScript(file)) return;
      // The page behind a dialog does not change.
      if (document.querySelector("dialog:modal") !== null) return;
      event.preventDefault();
      readScript(file)
        .then((text) => {
          const [before, wasOwn] = [form.script.peek(), form.hasOwnScript.peek()];
          const undo = () => {
            if (wasOwn) form.setScript(before);
            else {
              form.clearSaved(form.script.peek());
              form.script.value = before;
            }
          };
          const isKept = form.setScript(text);
          openTab.value = "script";
          const advice = isKept ? "" : " Browser storage is full: make the cut before you leave the page.";
          showToast({
            kind: isKept ? "info" : "bad",
            text: `“${file.name}” is now the script.${advice}`,
            action: { label: "Undo", run: undo },
          });
        })
        .catch((error: unknown) => showFailure(toUnreadable(error)));
    };
    document.addEventListener("drop", onDrop);
    return () => document.removeEventListener("drop", onDrop);
  }, [form, isEnabled]);
}

const USUAL_MODE = "natural";

/** The mode and the options of a cut. Before the first one, the modes are buttons above the picture. */
function CutChoices({ form, isFirst }: { form: ScriptForm; isFirst: boolean }) {
  // A mode that was chosen during the transcription is shown.
  const [isOpen] = useState(isFirst && form.options.peek().mode !== USUAL_MODE);
  return (
    <>
      {!isFirst && <ModeField form={form} />}
      <details class="cut-options" open={isOpen}>
        <summary>Options</summary>
        <div class="cut-option-fields">
          {isFirst && <ModeField form={form} />}
          <CutOptionFields form={form} />
        </div>
      </details>
      <TranscribedLanguage />
    </>
  );
}

function ModeField({ form }: { form: ScriptForm }) {
  const id = useId();
  const { mode } = form.options.value;
  return (
    <div class="field">
      <span class="label">Mode</span>
      <Segments label="Mode" hintId={id} class="wide" value={mode} options={MODES} onChange={form.setMode} />
      <span id={id} class="hint">
        {mode === MANUAL_MODE ? "" : MODE_HINTS[mode]}
      </span>
    </div>
  );
}

/** The script field. The text can be typed, pasted, dropped or read from a file. */
export function ScriptField({ form, onError }: { form: ScriptForm; onError(error: unknown): void }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const take = async (file: File | undefined) => {
    setIsOver(false);
    if (file === undefined) return;
    try {
      form.setScript(await readScript(file));
      onError(null);
    } catch (error) {
      onError(toUnreadable(error));
    }
  };
  const { length } = form.script.value;
  return (
    <div class="field">
      <div class="panel-head">
        <label class="label" for={id}>
          Script
        </label>
        <span class="spacer" />
        <Button look="quiet" onClick={() => input.current?.click()}>
          Open file
        </Button>
        <input
          ref={input}
          class="visually-hidden"
          type="file"
          tabIndex={-1}
          aria-label="File with the text"
          accept={SCRIPT_TYPES}
          onChange={(event) => {
            void take(event.currentTarget.files?.[0]);
            event.currentTarget.value = "";
          }}
        />
      </div>
      <textarea
        id={id}
        class={isOver ? "input script over" : "input script"}
        rows={6}
        dir="auto"
        placeholder="Paste the script, or drop a text, Markdown, SRT or DOCX file. Without a script, Offcut cuts by pauses, fillers and repetitions."
        value={form.script.value}
        aria-describedby={`${id}-hint`}
        onInput={(event) => form.setScript(event.currentTarget.value)}
        onDragOver={(event) => {
          if (!event.dataTransfer?.types.includes("Files")) return;
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          if (!event.dataTransfer?.types.includes("Files")) return;
          event.preventDefault();
          void take(event.dataTransfer.files[0]);
        }}
      />
      <span id={`${id}-hint`} class={length > MAX_SCRIPT_CHARACTERS ? "field-error" : "hint"}>
        {length > MAX_SCRIPT_CHARACTERS
          ? `${toNumber(length)} characters: the maximum is ${toNumber(MAX_SCRIPT_CHARACTERS)}.`
          : "Optional. The last good take of each line is kept."}
      </span>
    </div>
  );
}

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
function CutOptionFields({ form }: { form: ScriptForm }) {
  const options = form.options.value;
  const set = (change: Partial<CutOptions>) => {
    form.options.value = { ...form.options.value, ...change };
  };
  return (
    <>
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
    </>
  );
}
