import { useEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../../../ui/button";
import type { RenderChoice, RenderedAsset } from "./render-choices";
import { deletePreset, isSameChoice, listPresets, ownPresets, savePreset } from "./render-presets";

const MAX_NAME = 40;

type PresetRowProps = { asset: RenderedAsset; choice: RenderChoice; onChoose(choice: RenderChoice): void };

/** Settings with a name. Those that match no preset can be saved as one. */
export function PresetRow({ asset, choice, onChoose }: PresetRowProps) {
  const presets = listPresets(asset, ownPresets.value);
  const chosen = presets.find((preset) => isSameChoice(preset.choice, choice));
  const isOwn = chosen !== undefined && ownPresets.value.includes(chosen);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div class="presets" role="group" aria-label="Presets">
      {presets.map((preset) => (
        <Button key={preset.name} aria-pressed={preset === chosen} onClick={() => onChoose(preset.choice)}>
          {preset.name}
        </Button>
      ))}
      {isOwn && (
        <IconButton icon="trash" label={`Delete the preset ${chosen.name}`} onClick={() => deletePreset(chosen.name)} />
      )}
      {chosen === undefined && <SavePreset choice={choice} />}
    </div>
  );
}

function SavePreset({ choice }: { choice: RenderChoice }) {
  const [name, setName] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const isNaming = name !== null;
  useEffect(() => {
    if (isNaming) input.current?.focus();
  }, [isNaming]);
  if (name === null)
    return (
      <Button look="quiet" icon="plus" onClick={() => setName("")}>
        Save as preset…
      </Button>
    );
  const save = () => {
    if (name.trim() === "") return;
    // A preset has only settings that the server accepts.
    if (input.current?.form?.reportValidity()) savePreset(name.trim(), choice);
  };
  return (
    <>
      <input
        class="input"
        aria-label="Name of the preset"
        placeholder="Name"
        maxLength={MAX_NAME}
        value={name}
        ref={input}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          // The form around it would start the render.
          event.preventDefault();
          save();
        }}
      />
      <Button onClick={save}>Save preset</Button>
    </>
  );
}
