/** The cut that is made of a recording as soon as it can be cut. */
import { useId, useState } from "preact/hooks";
import { CUT_MODE_NAMES, type CutMode } from "../../../src/domain/plan";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { workspace } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { MODE_NAMES } from "../../editor/versions/name-version";
import { Button } from "../../ui/button";
import { Segments } from "../../ui/form";
import { toCutMode } from "../projects/cut-settings";
import type { ScriptForm } from "./script";
import type { Asset } from "./use-media";

export const MODES = CUT_MODE_NAMES.map((value) => ({ value, label: MODE_NAMES[value] }));
export const MODE_HINTS: Record<CutMode, string> = {
  tight: "Short pauses. Fillers and retakes go.",
  natural: "Pauses of natural length. Fillers and retakes go.",
  loose: "Long pauses. Fillers stay.",
};

const CHOICES = [...MODES, { value: "off" as const, label: "Do not cut" }];

/** The mode of that cut, and the button that stores it with the script of the form. */
export function PlannedMode({ asset, form }: { asset: Asset; form: ScriptForm }) {
  const params = { path: { asset_id: asset.id } };
  const planned = useRead(["planned-cut", asset.id, workspace.value?.id], (signal) =>
    must(api.GET("/api/v1/assets/{asset_id}/cut-after-upload", { params, signal })),
  ).state.value;
  const [isSending, setIsSending] = useState(false);
  const id = useId();
  if (planned.kind !== "ready") return null;
  if (form.planned.value === null) {
    form.savedPlan.value = planned.value.mode ?? "off";
    form.setPlanned(form.savedPlan.value);
  }
  const choice = form.planned.value ?? "off";
  if (!form.hasOwnScript.value && form.script.value === "") form.script.value = planned.value.script;

  const save = async () => {
    setIsSending(true);
    try {
      const body = { mode: toCutMode(choice), script: form.script.value };
      await must(api.PUT("/api/v1/assets/{asset_id}/cut-after-upload", { params, body }));
      form.savedPlan.value = choice;
      const text =
        body.mode === null ? "The recording will not be cut." : "The recording will be cut as soon as it is ready.";
      showToast({ kind: "info", text });
    } catch (thrown) {
      // The recording may have become ready, which removes this form.
      showFailure(thrown);
    } finally {
      setIsSending(false);
    }
  };

  return (
    <>
      {planned.value.error_message !== null && <p class="message warning">{planned.value.error_message}</p>}
      <div class="field">
        <span class="label">Mode</span>
        <Segments label="Mode" hintId={id} class="wide" value={choice} options={CHOICES} onChange={form.setPlanned} />
        <span id={id} class="hint">
          {choice === "off" ? "You choose the mode after transcription." : MODE_HINTS[choice]}
        </span>
      </div>
      <Button look="primary" icon="check" isBusy={isSending} onClick={() => void save()}>
        Save
      </Button>
    </>
  );
}
