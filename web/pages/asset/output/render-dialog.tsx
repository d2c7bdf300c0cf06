import { useState } from "preact/hooks";
import { MAX_FILE_NAME_CHARACTERS } from "../../../../src/domain/field-limits";
import { toFileStem } from "../../../../src/domain/file-names";
import { api, must, type Schemas } from "../../../app/api";
import { toNumber } from "../../../app/english";
import { formatBytes, formatDuration } from "../../../app/format";
import { cleanMode } from "../../../editor/state/player-settings";
import { Field, SelectField } from "../../../ui/form";
import { FormDialog } from "../../../ui/form-dialog";
import { explainRefusal } from "../problem-texts";
import { LoudnessFields } from "./loudness-fields";
import { PresetRow } from "./preset-row";
import {
  AS_RECORDED,
  AUDIO_BITRATES,
  describeWork,
  estimateBytes,
  findSourceKbits,
  formatFrameRate,
  getMaxFrameRate,
  isVideoFormat,
  listFormats,
  listResolutions,
  MIN_VIDEO_KBITS,
  NOISE_REDUCTIONS,
  type RenderChoice,
  SPEAKER_LEVELS,
  toOutput,
} from "./render-choices";
import { type EditedCut, requireSaved, UnsavedNote } from "./use-output";

type RenderDialogProps = {
  asset: Schemas["AssetDetail"];
  cut: EditedCut;
  /** Duration of the edited cut in seconds. */
  cutSeconds: number;
  onStarted(): void;
  onClose(): void;
};

/** Renders the cut or the whole recording to a file. */
export function RenderDialog({ asset, cut, cutSeconds, onStarted, onClose }: RenderDialogProps) {
  const [isWhole, setIsWhole] = useState(cut.cutId === null);
  const [choice, setChoice] = useState<RenderChoice>({
    format: listFormats(asset)[0]?.value ?? "mp4",
    resolution: "",
    frameRate: "",
    videoBitrate: "",
    audioBitrate: "",
    loudness: "",
    noiseReduction: "",
    speakerLevels: "",
  });
  const [presetsChosen, setPresetsChosen] = useState(0);
  const [name, setName] = useState("");
  const sourceSeconds = Number(asset.duration_seconds ?? 0);
  const seconds = isWhole ? sourceSeconds : cutSeconds;
  const bytes = estimateBytes(asset, choice, seconds);
  const start = async () => {
    try {
      const cutId = isWhole ? null : await requireSaved(cut);
      await must(
        api.POST("/api/v1/renders", { body: { asset_id: asset.id, cut_id: cutId, output: toOutput(choice, name) } }),
      );
    } catch (error) {
      throw explainRefusal(error);
    }
    onStarted();
    onClose();
  };
  return (
    <FormDialog title="Render" isWide submitLabel="Start" onSend={start} onClose={onClose}>
      {cut.isEdited && !isWhole && <UnsavedNote />}
      <fieldset class="choices">
        <legend class="label">Content</legend>
        <SourceChoice
          label="The cut"
          seconds={cutSeconds}
          isChosen={!isWhole}
          isDisabled={cut.cutId === null}
          onChoose={() => setIsWhole(false)}
        />
        <SourceChoice
          label="The whole recording"
          seconds={sourceSeconds}
          isChosen={isWhole}
          onChoose={() => setIsWhole(true)}
        />
      </fieldset>
      <PresetRow
        asset={asset}
        choice={choice}
        onChoose={(chosen) => {
          setChoice(chosen);
          setPresetsChosen(presetsChosen + 1);
        }}
      />
      <RenderFields
        // A preset also replaces the text that is being typed into a field.
        key={presetsChosen}
        asset={asset}
        choice={choice}
        onChange={(changed) => setChoice({ ...choice, ...changed })}
      />
      <Field
        label="File name"
        name="file_name"
        value={name}
        maxLength={MAX_FILE_NAME_CHARACTERS}
        spellcheck={false}
        placeholder={`${toFileStem(asset.filename) ?? "render"}${isWhole ? "" : ".cut"}`}
        hint={`.${choice.format} is added`}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <p class="render-estimate" role="status">
        {describeWork(asset, choice, !isWhole)}{" "}
        {bytes !== null && (
          <>
            Estimated size: <strong class="number">about {formatBytes(bytes)}</strong>.
          </>
        )}
      </p>
    </FormDialog>
  );
}

type SourceChoiceProps = {
  label: string;
  seconds: number;
  isChosen: boolean;
  isDisabled?: boolean;
  onChoose(): void;
};

const SourceChoice = ({ label, seconds, isChosen, isDisabled = false, onChoose }: SourceChoiceProps) => (
  <label class="choice">
    <input type="radio" name="what" checked={isChosen} disabled={isDisabled} onChange={onChoose} />
    <span>
      {label} <span class="soft number">{isDisabled ? "make a cut first" : formatDuration(seconds)}</span>
    </span>
  </label>
);

type RenderFieldsProps = {
  asset: Schemas["AssetDetail"];
  choice: RenderChoice;
  onChange(changed: Partial<RenderChoice>): void;
};

/** The format and settings of a render, limited by the recording. */
function RenderFields({ asset, choice, onChange }: RenderFieldsProps) {
  const isVideo = isVideoFormat(choice.format);
  const maxKbits = findSourceKbits(asset);
  const audioBitrates = [
    { value: "", label: AS_RECORDED },
    ...AUDIO_BITRATES.map((value) => ({ value, label: `${value} kbit/s` })),
  ];
  return (
    <div class="output-fields">
      <SelectField
        label="Format"
        value={choice.format}
        options={listFormats(asset)}
        onChange={(format) => onChange({ format })}
      />
      {isVideo && (
        <>
          <SelectField
            label="Resolution"
            value={choice.resolution}
            options={listResolutions(asset)}
            onChange={(resolution) => onChange({ resolution })}
          />
          <Field
            label="Frame rate"
            name="frame_rate"
            type="number"
            min={1}
            max={getMaxFrameRate(asset)}
            step={1}
            value={choice.frameRate}
            placeholder={`${AS_RECORDED} (${formatFrameRate(asset)})`}
            hint={`1 to ${getMaxFrameRate(asset)}`}
            onInput={(event) => onChange({ frameRate: event.currentTarget.value })}
          />
          <Field
            label="Video bitrate"
            name="video_bitrate"
            type="number"
            min={MIN_VIDEO_KBITS}
            {...(maxKbits === null ? {} : { max: maxKbits })}
            step={1}
            value={choice.videoBitrate}
            placeholder={AS_RECORDED}
            hint={maxKbits === null ? "kbit/s" : `kbit/s, ${MIN_VIDEO_KBITS} to about ${toNumber(maxKbits)}`}
            onInput={(event) => onChange({ videoBitrate: event.currentTarget.value })}
          />
        </>
      )}
      {(asset.audio_tracks ?? 1) > 0 && (
        <>
          <SelectField
            label="Audio bitrate"
            value={choice.audioBitrate}
            options={audioBitrates}
            onChange={(audioBitrate) => onChange({ audioBitrate })}
          />
          <LoudnessFields value={choice.loudness} onChange={(loudness) => onChange({ loudness })} />
          <SelectField
            label="Noise reduction"
            value={choice.noiseReduction}
            options={NOISE_REDUCTIONS}
            onChange={(noiseReduction) => {
              if (noiseReduction !== "") cleanMode.value = noiseReduction;
              onChange({ noiseReduction });
            }}
          />
          <SelectField
            label="Speaker levels"
            value={choice.speakerLevels}
            options={SPEAKER_LEVELS}
            onChange={(speakerLevels) => onChange({ speakerLevels })}
          />
        </>
      )}
    </div>
  );
}
