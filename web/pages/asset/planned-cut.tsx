/** The cut that is made of a recording as soon as it can be cut. */

import { useId, useLayoutEffect, useState } from "preact/hooks";
import type { CutMode } from "../../../src/domain/plan";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { workspace } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { MODES } from "../../editor/versions/name-version";
import { Button } from "../../ui/button";
import { Segments } from "../../ui/filter-bar";
import { toCutMode } from "../projects/cut-settings";
import type { ScriptForm } from "./script";
import type { Asset } from "./use-media";

export const MODE_HINTS: Record<CutMode, string> = {
  tight: "Short pauses. Fillers and retakes go.",
  natural: "Pauses of natural length. Fillers and retakes go.",
  loose: "Long pauses. Fillers stay.",
};

const CHOICES = [...MODES, { value: "off" as const, label: "Do not cut" }];

/** The mode of that cut, and the button that stores it with the script of the form. */
export function PlannedMode({ asset, form }: { asset: Asset; form: ScriptForm }) {
  const params = { path: { asset_id: asset.id } };
  const read = useRead(["planned-cut", asset.id, workspace.value?.id], (signal) =>
    must(api.GET("/api/v1/assets/{asset_id}/cut-after-upload", { params, signal })),
  );
  const { value: planned } = read.state;
  const [isSending, setIsSending] = useState(false);
  const id = useId();
  const stored = planned.kind === "ready" ? (planned.value.mode ?? "off") : null;
  useLayoutEffect(() => {
    // A read that began before the choice was saved may end in the meantime.
    if (stored === null || isSending) return;
    // A choice that is not saved yet stays.
    const isOwn = form.planned.peek() !== null && form.planned.peek() !== form.savedPlan.peek();
    form.savedPlan.value = stored;
    if (planned.kind === "ready" && stored !== "off") form.clearSaved(planned.value.script);
    if (!isOwn) form.setPlanned(stored);
  }, [form, stored, isSending]);
  if (planned.kind !== "ready") return null;
  const choice = form.planned.value ?? "off";
  if (!form.hasOwnScript.value && form.script.value === "") form.script.value = planned.value.script;

  const save = async () => {
    setIsSending(true);
    const before = planned.value;
    const body = { mode: toCutMode(choice), script: form.script.value };
    const setStored = (plan: typeof body) => {
      form.savedPlan.value = plan.mode ?? "off";
      read.change((value) => ({ ...value, ...plan }));
    };
    // The recording may become ready before the response arrives.
    setStored(body);
    try {
      await must(api.PUT("/api/v1/assets/{asset_id}/cut-after-upload", { params, body }));
      // A read may have ended in the meantime.
      setStored(body);
      // The server drops the script of a cut that is no longer planned.
      if (body.mode === null && form.script.value !== "") form.setScript(form.script.value);
      const text =
        body.mode === null ? "The recording will not be cut." : "The recording will be cut as soon as it is ready.";
      showToast({ kind: "info", text });
    } catch (thrown) {
      // The recording may have become ready, which removes this form.
      showFailure(thrown);
      setStored({ mode: before.mode, script: before.script });
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
