/** The dialogs of actions on several recordings. */

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { EXPORT_PART_LABELS, type ExportPart, MAX_EXPORT_ASSETS } from "../../../src/domain/export-parts";
import { OUTPUT_FORMATS } from "../../../src/domain/media";
import type { CutMode } from "../../../src/domain/plan";
import { toNumber } from "../../app/english";
import { formatCount } from "../../app/format";
import { recall, remember } from "../../app/memory";
import { MODES } from "../../editor/versions/name-version";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField } from "../../ui/form";
import { AS_RECORDED, FORMAT_LABELS, type RenderChoice } from "../asset/output/render-choices";
import { DEFAULT_CHOICE, ownPresets, PRESETS } from "../asset/output/render-presets";
import { cutRecordings, exportRecordings, hasCut, renderRecordings } from "./batch-work";
import type { Recording } from "./recording";

type BatchDialogProps = {
  recordings: Recording[];
  onStart(done: Promise<void>): void;
  onClose(): void;
};

type StartProps = { title: string; label: string; isReady?: boolean; onClose(): void; onStart(): void };

const StartDialog = ({
  title,
  label,
  isReady = true,
  onClose,
  onStart,
  children,
}: StartProps & { children: ComponentChildren }) => (
  <Dialog title={title} onClose={onClose}>
    <div class="dialog-body">{children}</div>
    <div class="dialog-foot">
      <Button onClick={onClose}>Cancel</Button>
      <Button look="primary" disabled={!isReady} onClick={onStart}>
        {label}
      </Button>
    </div>
  </Dialog>
);

export function CutDialog({ recordings, onStart, onClose }: BatchDialogProps) {
  const [mode, setMode] = useState<CutMode>("natural");
  const known = recordings.filter(({ latest_cut: cut }) => cut !== null).length;
  return (
    <StartDialog
      title={`Make cuts of ${formatCount(recordings.length, "recording")}`}
      label="Make cut"
      onClose={onClose}
      onStart={() => onStart(cutRecordings(recordings, mode))}
    >
      <SelectField label="Mode" data-first value={mode} options={MODES} onChange={setMode} />
      {known > 0 && (
        <p class="soft">
          {formatCount(known, "recording")} already {known === 1 ? "has" : "have"} a cut. It stays as a version, and its
          script and edits are used again.
        </p>
      )}
    </StartDialog>
  );
}

/** The formats of any recording, then the presets that everybody has, then the user's own. */
const listSettings = (): { label: string; choice: RenderChoice | null }[] => [
  { label: AS_RECORDED, choice: null },
  ...OUTPUT_FORMATS.map((format) => ({ label: FORMAT_LABELS[format], choice: { ...DEFAULT_CHOICE, format } })),
  ...[...PRESETS.slice(1), ...ownPresets.value].map(({ name, choice }) => ({ label: `Preset: ${name}`, choice })),
];

export function RenderDialog({ recordings, onStart, onClose }: BatchDialogProps) {
  const [chosen, setChosen] = useState(0);
  const settings = listSettings();
  const usable = recordings.filter(hasCut);
  return (
    <StartDialog
      title={`Render ${formatCount(usable.length || recordings.length, "recording")}`}
      label="Render"
      isReady={usable.length > 0}
      onClose={onClose}
      onStart={() => onStart(renderRecordings(usable, settings[chosen]?.choice ?? null))}
    >
      <SelectField
        label="Format"
        data-first
        value={String(chosen)}
        options={settings.map(({ label }, index) => ({ value: String(index), label }))}
        onChange={(value) => setChosen(Number(value))}
      />
      <WithoutCut count={recordings.length - usable.length} of={recordings.length} />
    </StartDialog>
  );
}

function WithoutCut({ count, of: all }: { count: number; of: number }) {
  if (count === all)
    return (
      <p role="alert">{all === 1 ? "This recording has" : "These recordings have"} no cut yet. Make cuts first.</p>
    );
  if (count === 0) return <p class="soft">The newest cut of each recording is used.</p>;
  return (
    <p class="soft">
      The newest cut of each recording is used. {formatCount(count, "recording")} without a cut{" "}
      {count === 1 ? "is" : "are"} left out.
    </p>
  );
}

const PARTS = [
  "fcpxml",
  "fcp7xml",
  "edl",
  "otio",
  "srt",
  "vtt",
  "txt",
  "docx",
  "render",
] as const satisfies readonly ExportPart[];
const KEY = "export-parts";

export function ExportDialog({ recordings, onStart, onClose }: BatchDialogProps) {
  const [parts, setParts] = useState<readonly string[]>((recall(KEY) ?? "fcpxml,srt,txt").split(","));
  const chosen = PARTS.filter((part) => parts.includes(part));
  const usable = recordings.filter(hasCut);
  const id = useId();
  return (
    <StartDialog
      title={`Export ${formatCount(usable.length || recordings.length, "recording")}`}
      label="Export"
      isReady={chosen.length > 0 && usable.length > 0 && usable.length <= MAX_EXPORT_ASSETS}
      onClose={onClose}
      onStart={() => {
        remember(KEY, chosen.join(","));
        onStart(exportRecordings(usable, chosen));
      }}
    >
      <fieldset class="export-parts" aria-describedby={id}>
        <legend>Files</legend>
        {PARTS.map((part) => (
          <label key={part}>
            <input
              type="checkbox"
              checked={parts.includes(part)}
              onChange={() => setParts(parts.includes(part) ? parts.filter((one) => one !== part) : [...parts, part])}
            />
            {EXPORT_PART_LABELS[part]}
          </label>
        ))}
      </fieldset>
      <p class="soft" id={id}>
        One ZIP file with a folder for each recording.
      </p>
      <WithoutCut count={recordings.length - usable.length} of={recordings.length} />
      {usable.length > MAX_EXPORT_ASSETS && (
        <p role="alert">
          An export can have at most {toNumber(MAX_EXPORT_ASSETS)} recordings. Select fewer, and export the rest later.
        </p>
      )}
    </StartDialog>
  );
}
