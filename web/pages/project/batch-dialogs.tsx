/** What a batch asks before it starts. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { CutMode } from "../../../src/domain/plan";
import { formatCount } from "../../app/format";
import { recall, remember } from "../../app/memory";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField } from "../../ui/field";
import { cutRecordings, type ExportPart, exportRecordings, type RenderFormat, renderRecordings } from "./batch-work";
import type { Recording } from "./recording";

type BatchDialogProps = {
  recordings: Recording[];
  onStart(work: (recordings: Recording[]) => Promise<void>): void;
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

const MODES: { value: CutMode; label: string }[] = [
  { value: "tight", label: "Tight" },
  { value: "natural", label: "Natural" },
  { value: "loose", label: "Loose" },
];

export function CutDialog({ recordings, onStart, onClose }: BatchDialogProps) {
  const [mode, setMode] = useState<CutMode>("natural");
  const known = recordings.filter(({ latest_cut: cut }) => cut !== null).length;
  return (
    <StartDialog
      title={`Make cuts of ${formatCount(recordings.length, "recording")}`}
      label="Make cut"
      onClose={onClose}
      onStart={() => onStart((all) => cutRecordings(all, mode))}
    >
      <SelectField
        label="Mode"
        data-first
        value={mode}
        options={MODES}
        onChange={(event) => setMode(event.currentTarget.value as CutMode)}
      />
      {known > 0 && (
        <p class="soft">
          {formatCount(known, "recording")} already {known === 1 ? "has" : "have"} a cut, which stays as a version.
        </p>
      )}
    </StartDialog>
  );
}

const FORMATS: { value: RenderFormat | ""; label: string }[] = [
  { value: "", label: "As recorded" },
  { value: "mp4", label: "MP4" },
  { value: "mov", label: "MOV" },
  { value: "m4a", label: "M4A, audio only" },
  { value: "mp3", label: "MP3, audio only" },
];

export function RenderDialog({ recordings, onStart, onClose }: BatchDialogProps) {
  const [format, setFormat] = useState<RenderFormat | "">("");
  return (
    <StartDialog
      title={`Render ${formatCount(recordings.length, "recording")}`}
      label="Render"
      onClose={onClose}
      onStart={() => onStart((all) => renderRecordings(all, format))}
    >
      <SelectField
        label="Format"
        data-first
        value={format}
        options={FORMATS}
        onChange={(event) => setFormat(event.currentTarget.value as RenderFormat | "")}
      />
      <WithoutCut recordings={recordings} />
    </StartDialog>
  );
}

function WithoutCut({ recordings }: Pick<BatchDialogProps, "recordings">) {
  const count = recordings.filter(({ latest_cut: cut }) => cut === null).length;
  if (count === 0) return <p class="soft">The newest cut of each recording is used.</p>;
  return (
    <p class="soft">
      The newest cut of each recording is used. {formatCount(count, "recording")} without a cut{" "}
      {count === 1 ? "is" : "are"} left out.
    </p>
  );
}

const PARTS: { value: ExportPart; label: string }[] = [
  { value: "fcpxml", label: "Final Cut Pro, DaVinci Resolve" },
  { value: "fcp7xml", label: "Premiere Pro" },
  { value: "edl", label: "EDL" },
  { value: "otio", label: "OpenTimelineIO" },
  { value: "srt", label: "Subtitles, SRT" },
  { value: "vtt", label: "Subtitles, WebVTT" },
  { value: "txt", label: "Text" },
  { value: "docx", label: "Word document" },
  { value: "render", label: "Newest render" },
];
const KEY = "export-parts";

export function ExportDialog({ recordings, onStart, onClose }: BatchDialogProps) {
  const [parts, setParts] = useState<readonly string[]>((recall(KEY) ?? "fcpxml,srt,txt").split(","));
  const chosen = PARTS.map(({ value }) => value).filter((value) => parts.includes(value));
  const id = useId();
  return (
    <StartDialog
      title={`Export ${formatCount(recordings.length, "recording")}`}
      label="Export"
      isReady={chosen.length > 0}
      onClose={onClose}
      onStart={() => {
        remember(KEY, chosen.join(","));
        onStart((all) => exportRecordings(all, chosen));
      }}
    >
      <fieldset class="export-parts" aria-describedby={id}>
        <legend>Files</legend>
        {PARTS.map(({ value, label }) => (
          <label key={value}>
            <input
              type="checkbox"
              checked={parts.includes(value)}
              onChange={() =>
                setParts(parts.includes(value) ? parts.filter((one) => one !== value) : [...parts, value])
              }
            />
            {label}
          </label>
        ))}
      </fieldset>
      <p class="soft" id={id}>
        One ZIP file with a folder for each recording.
      </p>
      <WithoutCut recordings={recordings} />
    </StartDialog>
  );
}
