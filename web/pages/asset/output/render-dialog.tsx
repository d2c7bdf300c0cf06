import { useState } from "preact/hooks";
import { toFileStem } from "../../../../src/domain/file-names";
import { MAX_FILE_NAME_CHARACTERS } from "../../../../src/domain/render-output";
import { api, must, type Schemas } from "../../../app/api";
import { formatBytes, formatDuration } from "../../../app/format";
import { Dialog, FormActions } from "../../../ui/dialog";
import { Field, Form } from "../../../ui/form";
import { type EditedCut, requireSaved } from "./edited-cut";
import { explainRefusal } from "./output-problems";
import { PresetRow } from "./preset-row";
import { describeWork, estimateBytes, listFormats, type RenderChoice, toOutput } from "./render-choices";
import { RenderFields } from "./render-fields";
import { UnsavedNote } from "./unsaved-note";

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
    <Dialog title="Render" isWide onClose={onClose}>
      <Form onSend={start} class="dialog-body">
        {({ errors, isSending }) => (
          <>
            {cut.isEdited && !isWhole && <UnsavedNote />}
            <fieldset class="choices">
              <legend class="label">What</legend>
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
            <PresetRow asset={asset} choice={choice} onChoose={setChoice} />
            <RenderFields
              asset={asset}
              choice={choice}
              errors={errors}
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
              error={errors.file_name}
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
            <FormActions submitLabel="Start" isSending={isSending} onCancel={onClose} />
          </>
        )}
      </Form>
    </Dialog>
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
