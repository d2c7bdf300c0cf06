import { useId, useState } from "preact/hooks";
import type { Schemas } from "../../../app/api";
import { saveFile } from "../../../app/save-file";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { ErrorMessage } from "../../../ui/error-message";
import { type EditedCut, requireSaved } from "./edited-cut";
import {
  type ExportFormat,
  type ExportOptions,
  FORMATS,
  findObstacle,
  isAboutFrameRate,
  toExportPath,
} from "./export-formats";
import { ExportOptionFields } from "./export-option-fields";
import { UnsavedNote } from "./unsaved-note";

type Asset = Schemas["AssetDetail"];
type ExportDialogProps = { asset: Asset; cut: EditedCut; hasWords: boolean; onClose(): void };

const INITIAL: ExportOptions = {
  format: "fcpxml",
  layout: "tight",
  mediaFolder: "",
  frameRate: "",
  dropFrame: "",
  timeline: "cut",
};

/** Exports a cut as a timeline or as subtitles. */
export function ExportDialog({ asset, cut, hasWords, onClose }: ExportDialogProps) {
  const [options, setOptions] = useState(INITIAL);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const change = (changed: Partial<ExportOptions>) => setOptions({ ...options, ...changed });
  const download = async () => {
    setIsBusy(true);
    setError(null);
    try {
      await saveFile(`/api/v1/cuts/${await requireSaved(cut)}/${toExportPath(options, asset)}`);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setIsBusy(false);
    }
  };
  const obstacle = findObstacle(options.format, asset, { hasWords });
  const isStopped = obstacle !== null && !(isAboutFrameRate(options.format, asset) && options.frameRate !== "");
  return (
    <Dialog title="Export" isWide onClose={onClose}>
      <div class="dialog-body">
        {cut.isEdited && <UnsavedNote />}
        <FormatList
          title="Timeline"
          isSubtitle={false}
          {...{ asset, hasWords, chosen: options.format }}
          onChoose={(format) => change({ format })}
        />
        <FormatList
          title="Subtitles"
          isSubtitle
          {...{ asset, hasWords, chosen: options.format }}
          onChoose={(format) => change({ format })}
        />
        <ExportOptionFields asset={asset} options={options} onChange={change} />
        <div role="alert">{error !== null && <ErrorMessage error={error} />}</div>
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
  title: string;
  isSubtitle: boolean;
  asset: Asset;
  hasWords: boolean;
  chosen: ExportFormat;
  onChoose(format: ExportFormat): void;
};

/** Lists the formats of one kind, each with the programs that read it or the reason why it is unavailable. */
function FormatList({ title, isSubtitle, asset, hasWords, chosen, onChoose }: FormatListProps) {
  const id = useId();
  return (
    <fieldset class="choices">
      <legend class="label">{title}</legend>
      {FORMATS.filter((one) => one.isSubtitle === isSubtitle).map(({ format, name, readers }) => {
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
              <span>{name}</span>
              <span class={obstacle === null ? "soft" : "choice-obstacle"} id={`${id}-${format}`}>
                {obstacle ?? readers}
              </span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
