import { MAX_MEDIA_ROOT_CHARACTERS } from "../../../../src/domain/field-limits";
import type { Schemas } from "../../../app/api";
import { Field, SelectField } from "../../../ui/form";
import { canDropFrames, type ExportOptions, FRAME_RATES, findFormat } from "./export-formats";
import { formatFrameRate } from "./render-choices";

type ExportOptionFieldsProps = {
  asset: Schemas["AssetDetail"];
  options: ExportOptions;
  onChange(changed: Partial<ExportOptions>): void;
};

const LAYOUTS = [
  { value: "tight", label: "Tight: kept parts only" },
  { value: "review", label: "Review: removed parts disabled" },
];
const CLOCKS = [
  { value: "cut", label: "Times of the rendered cut" },
  { value: "source", label: "Times of the recording" },
];
const TIMECODES = [
  { value: "", label: "As recorded" },
  { value: "true", label: "Drop frame" },
  { value: "false", label: "Non-drop frame" },
];

/** The options of the chosen format. */
export function ExportOptionFields({ asset, options, onChange }: ExportOptionFieldsProps) {
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
        onChange={(event) => onChange({ timeline: event.currentTarget.value as ExportOptions["timeline"] })}
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
        onChange={(event) => onChange({ layout: event.currentTarget.value as ExportOptions["layout"] })}
      />
      {choice.hasFrameRate && (
        <SelectField
          label="Frame rate"
          value={options.frameRate}
          options={rates}
          onChange={(event) => onChange({ frameRate: event.currentTarget.value })}
        />
      )}
      {choice.hasTimecode && canDropFrames(options.frameRate, asset) && (
        <SelectField
          label="Timecode"
          value={options.dropFrame}
          options={TIMECODES}
          onChange={(event) => onChange({ dropFrame: event.currentTarget.value as ExportOptions["dropFrame"] })}
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
