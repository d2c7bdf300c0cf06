import { useEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../../../ui/button";
import type { RenderChoice, RenderedAsset } from "./render-choices";
import { deletePreset, isSameChoice, isTaken, listPresets, ownPresets, savePreset } from "./render-presets";

const MAX_NAME = 40;

type PresetRowProps = { asset: RenderedAsset; choice: RenderChoice; onChoose(choice: RenderChoice): void };

/** Settings with a name. Those that match no preset can be saved as one. */
export function PresetRow({ asset, choice, onChoose }: PresetRowProps) {
  const group = useRef<HTMLDivElement>(null);
  const presets = listPresets(asset, ownPresets.value);
  const chosen = presets.find((preset) => isSameChoice(preset.choice, choice));
  /** Moves the focus to a button of the group, once the one that had it is gone. */
  const focus = (selector: string) =>
    requestAnimationFrame(() => group.current?.querySelector<HTMLElement>(selector)?.focus());
  return (
    <div class="field">
      <span class="label" id="presets">
        Preset
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields. */}
      <div class="presets" role="group" aria-labelledby="presets" ref={group}>
        {presets.map((preset) => (
          <span key={preset.name} class="preset">
            <Button class="filled" aria-pressed={preset === chosen} onClick={() => onChoose(preset.choice)}>
              {preset.name}
            </Button>
            {preset === chosen && ownPresets.value.includes(preset) && (
              <IconButton
                icon="trash"
                label={`Delete the preset ${preset.name}`}
                onClick={() => {
                  deletePreset(preset.name);
                  focus("button:last-child");
                }}
              />
            )}
          </span>
        ))}
        {chosen === undefined && (
          <SavePreset
            choice={choice}
            onSaved={() => focus("[aria-pressed=true]")}
            onCancel={() => focus(".save-preset")}
          />
        )}
      </div>
    </div>
  );
}

type SavePresetProps = { choice: RenderChoice; onSaved(): void; onCancel(): void };

function SavePreset({ choice, onSaved, onCancel }: SavePresetProps) {
  const [name, setName] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const isNaming = name !== null;
  useEffect(() => {
    if (isNaming) input.current?.focus();
  }, [isNaming]);
  if (name === null)
    return (
      <Button look="quiet" icon="plus" class="save-preset" onClick={() => setName("")}>
        Save as preset…
      </Button>
    );
  const save = () => {
    if (name.trim() === "") return input.current?.focus();
    // A preset has only settings that the server accepts.
    if (!input.current?.form?.reportValidity()) return;
    savePreset(name.trim(), choice);
    onSaved();
  };
  return (
    <span class="preset">
      <input
        class="input"
        aria-label="Name of the preset"
        placeholder="Name"
        maxLength={MAX_NAME}
        value={name}
        ref={input}
        onInput={({ currentTarget }) => {
          currentTarget.setCustomValidity(isTaken(currentTarget.value.trim()) ? "Choose a name of your own." : "");
          setName(currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== "Escape") return;
          // The form around it would start the render, and the dialog would close.
          event.preventDefault();
          event.stopPropagation();
          if (event.key === "Enter") return save();
          setName(null);
          onCancel();
        }}
      />
      <Button class="filled" onClick={save}>
        Save preset
      </Button>
    </span>
  );
}
