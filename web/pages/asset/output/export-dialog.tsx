import { useId, useState } from "preact/hooks";
import { MAX_MEDIA_ROOT_CHARACTERS } from "../../../../src/domain/field-limits";
import type { Schemas } from "../../../app/api";
import { saveFile } from "../../../app/save-file";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { Field, SelectField } from "../../../ui/form";
import { ErrorMessage } from "../../../ui/states";
import { useBusy } from "../../../ui/use-busy";
import {
  canDropFrames,
  EXPORT_KINDS,
  type ExportFormat,
  type ExportOptions,
  FORMATS,
  type FormatChoice,
  FRAME_RATES,
  findFormat,
  findObstacle,
  isAboutFrameRate,
  toExportPath,
} from "./export-formats";
import { formatFrameRate } from "./render-choices";
import { type EditedCut, requireSaved, UnsavedNote } from "./use-output";

type Asset = Schemas["AssetDetail"];
type ExportDialogProps = { asset: Asset; cut: EditedCut; hasWords: boolean; onClose(): void };

const INITIAL: ExportOptions = {
  format: "fcpxml",
  layout: "tight",
  mediaFolder: "",
  frameRate: "",
  dropFrame: "",
  timeline: "cut",
  hasTimes: false,
};

/** Exports a cut as a timeline, as subtitles or as text. */
export function ExportDialog({ asset, cut, hasWords, onClose }: ExportDialogProps) {
  const [options, setOptions] = useState(INITIAL);
  const { isBusy, error, run } = useBusy({ isShown: true });
  const change = (changed: Partial<ExportOptions>) => setOptions({ ...options, ...changed });
  const download = () =>
    run(async () => saveFile(`/api/v1/cuts/${await requireSaved(cut)}/${toExportPath(options, asset)}`));
  const obstacle = findObstacle(options.format, asset, { hasWords });
  const isStopped = obstacle !== null && !(isAboutFrameRate(options.format, asset) && options.frameRate !== "");
  return (
    <Dialog title="Export" isWide onClose={onClose}>
      <div class="dialog-body">
        {cut.isEdited && <UnsavedNote />}
        {EXPORT_KINDS.map((kind) => (
          <FormatList
            key={kind}
            kind={kind}
            {...{ asset, hasWords, chosen: options.format }}
            onChoose={(format) => change({ format })}
          />
        ))}
        <ExportOptionFields asset={asset} options={options} onChange={change} />
        <ErrorMessage error={error} />
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Close</Button>
        <Button
          look="primary"
          icon="download"
          isBusy={isBusy}
          disabled={isStopped}
          title={isStopped ? obstacle : undefined}
          onClick={() => void download()}
        >
          Download
        </Button>
      </div>
    </Dialog>
  );
}

type FormatListProps = {
  kind: FormatChoice["kind"];
  asset: Asset;
  hasWords: boolean;
  chosen: ExportFormat;
  onChoose(format: ExportFormat): void;
};

const TITLES: Record<FormatChoice["kind"], string> = {
  timeline: "Timeline for",
  subtitle: "Subtitles for",
  text: "Text for",
};

/** Lists the programs for one kind of file, each with its format or the reason why it is unavailable. */
function FormatList({ kind, asset, hasWords, chosen, onChoose }: FormatListProps) {
  const id = useId();
  return (
    <fieldset class="choices">
      <legend class="label">{TITLES[kind]}</legend>
      {FORMATS.filter((one) => one.kind === kind).map(({ format, program, details }) => {
        const obstacle = findObstacle(format, asset, { hasWords });
        return (
          <label key={format} class="choice">
            <input
              type="radio"
              name="format"
              value={format}
              checked={chosen === format}
              disabled={obstacle !== null && !isAboutFrameRate(format, asset)}
              aria-describedby={`${id}-${format}`}
              onChange={() => onChoose(format)}
            />
            <span class="choice-text">
              <span>{program}</span>
              <span class={obstacle === null ? "soft" : "choice-obstacle"} id={`${id}-${format}`}>
                {obstacle ?? details}
              </span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}

type ExportOptionFieldsProps = {
  asset: Schemas["AssetDetail"];
  options: ExportOptions;
  onChange(changed: Partial<ExportOptions>): void;
};

const LAYOUTS = [
  { value: "tight", label: "Tight: kept parts only" },
  { value: "review", label: "Review: removed parts disabled" },
] as const;
const CLOCKS = [
  { value: "cut", label: "Times of the rendered cut" },
  { value: "source", label: "Times of the recording" },
] as const;
const TIMECODES = [
  { value: "", label: "As recorded" },
  { value: "true", label: "Drop frame" },
  { value: "false", label: "Non-drop frame" },
] as const;

/** The options of the chosen format. */
function ExportOptionFields({ asset, options, onChange }: ExportOptionFieldsProps) {
  const choice = findFormat(options.format);
  if (choice.kind === "text")
    return (
      <label class="check">
        <input
          type="checkbox"
          checked={options.hasTimes}
          onChange={(event) => onChange({ hasTimes: event.currentTarget.checked })}
        />
        Time before each paragraph
      </label>
    );
  if (choice.kind === "subtitle")
    return (
      <SelectField
        label="Times"
        value={options.timeline}
        options={CLOCKS}
        onChange={(timeline) => onChange({ timeline })}
      />
    );
  const own = asset.type === "video" ? `As recorded (${formatFrameRate(asset)})` : "30";
  const rates = [{ value: "", label: own }, ...FRAME_RATES.map((value) => ({ value, label: value }))];
  return (
    <div class="output-fields">
      <SelectField
        label="Layout"
        value={options.layout}
        options={LAYOUTS}
        onChange={(layout) => onChange({ layout })}
      />
      {choice.hasFrameRate && (
        <SelectField
          label="Frame rate"
          value={options.frameRate}
          options={rates}
          onChange={(frameRate) => onChange({ frameRate })}
        />
      )}
      {choice.hasTimecode && canDropFrames(options.frameRate, asset) && (
        <SelectField
          label="Timecode"
          value={options.dropFrame}
          options={TIMECODES}
          onChange={(dropFrame) => onChange({ dropFrame })}
        />
      )}
      {choice.hasMediaFolder && (
        <Field
          label="Folder of the recording"
          name="media_root"
          value={options.mediaFolder}
          spellcheck={false}
          maxLength={MAX_MEDIA_ROOT_CHARACTERS}
          placeholder="/Volumes/Media or D:\Media"
          hint="Folder of the recording on the editing computer. If empty, the program asks for the file."
          onInput={(event) => onChange({ mediaFolder: event.currentTarget.value })}
        />
      )}
    </div>
  );
}
