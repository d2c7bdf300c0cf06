import type { OutputFormat } from "../../../../src/domain/render-output";
import type { Schemas } from "../../../app/api";
import { toNumber } from "../../../app/english";
import { cleanMode } from "../../../editor/state/player-settings";
import { Field, SelectField } from "../../../ui/form";
import {
  AUDIO_BITRATES,
  findSourceKbits,
  formatFrameRate,
  getMaxFrameRate,
  isVideoFormat,
  LOUDNESS_TARGETS,
  listFormats,
  listResolutions,
  MIN_VIDEO_KBITS,
  NOISE_REDUCTIONS,
  type RenderChoice,
  SPEAKER_LEVELS,
} from "./render-choices";

type RenderFieldsProps = {
  asset: Schemas["AssetDetail"];
  choice: RenderChoice;
  errors: Record<string, string>;
  onChange(changed: Partial<RenderChoice>): void;
};

const AS_RECORDED = "As recorded";

/** The format and settings of a render, limited by the recording. */
export function RenderFields({ asset, choice, errors, onChange }: RenderFieldsProps) {
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
        onChange={(event) => onChange({ format: event.currentTarget.value as OutputFormat })}
      />
      {isVideo && (
        <>
          <SelectField
            label="Resolution"
            value={choice.resolution}
            options={listResolutions(asset)}
            onChange={(event) => onChange({ resolution: event.currentTarget.value })}
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
            error={errors.frame_rate}
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
            error={errors.video_bitrate}
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
            onChange={(event) => onChange({ audioBitrate: event.currentTarget.value })}
          />
          <SelectField
            label="Loudness"
            value={choice.loudness}
            options={[{ value: "", label: AS_RECORDED }, ...LOUDNESS_TARGETS]}
            onChange={(event) => onChange({ loudness: event.currentTarget.value })}
          />
          <SelectField
            label="Noise reduction"
            value={choice.noiseReduction}
            options={[...NOISE_REDUCTIONS]}
            onChange={(event) => {
              const noiseReduction = event.currentTarget.value as RenderChoice["noiseReduction"];
              if (noiseReduction !== "") cleanMode.value = noiseReduction;
              onChange({ noiseReduction });
            }}
          />
          <SelectField
            label="Speaker levels"
            value={choice.speakerLevels}
            options={[...SPEAKER_LEVELS]}
            onChange={(event) =>
              onChange({ speakerLevels: event.currentTarget.value as RenderChoice["speakerLevels"] })
            }
          />
        </>
      )}
    </div>
  );
}
