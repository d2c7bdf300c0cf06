/** The cut that is made of a recording as soon as it can be cut: its mode and script. */
import { useMemo, useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { workspace } from "../../app/session";
import { showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { SelectField } from "../../ui/form";
import { ErrorMessage } from "../../ui/states";
import { CUT_CHOICES, toCutMode } from "../projects/cut-settings";
import { createScriptForm } from "./script";
import { ScriptField } from "./script-panel";
import type { Asset } from "./use-media";

export function PlannedCut({ asset }: { asset: Asset }) {
  const params = { path: { asset_id: asset.id } };
  const planned = useRead(["planned-cut", asset.id, workspace.value?.id], (signal) =>
    must(api.GET("/api/v1/assets/{asset_id}/cut-after-upload", { params, signal })),
  ).state.value;
  const form = useMemo(() => createScriptForm(asset.id), [asset.id]);
  const [choice, setChoice] = useState<string | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (planned.kind !== "ready") return null;
  if (!form.hasOwnScript.value && form.script.value === "") form.script.value = planned.value.script;

  const save = async () => {
    setIsSending(true);
    setError(null);
    try {
      const body = { mode: toCutMode(choice ?? planned.value.mode ?? "off"), script: form.script.value };
      await must(api.PUT("/api/v1/assets/{asset_id}/cut-after-upload", { params, body }));
      const text =
        body.mode === null ? "The recording will not be cut." : "The recording will be cut as soon as it is ready.";
      showToast({ kind: "info", text });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setIsSending(false);
    }
  };

  return (
    <section class="panel card planned-cut" aria-labelledby="planned-title">
      <h2 id="planned-title">Cut after upload</h2>
      {planned.value.error_message !== null && <p class="message warning">{planned.value.error_message}</p>}
      <SelectField
        label="Mode"
        value={choice ?? planned.value.mode ?? "off"}
        options={CUT_CHOICES}
        onChange={(event) => setChoice(event.currentTarget.value)}
      />
      <ScriptField form={form} onError={setError} />
      <div role="alert">{error !== null && <ErrorMessage error={error} />}</div>
      <Button look="primary" icon="check" isBusy={isSending} onClick={() => void save()}>
        Save
      </Button>
    </section>
  );
}
