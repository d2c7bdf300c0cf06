/** What the script panel will send: kept while cuts are switched, and between visits. */
import { type Signal, signal } from "@preact/signals";
import { CUT_MODES, type CutMode, type CutOptions } from "../../../src/domain/plan";
import { recall, remember } from "../../app/memory";
import { me } from "../../app/session";

export type ScriptForm = {
  script: Signal<string>;
  options: Signal<CutOptions>;
  /** Whether the script was written here, or comes from an earlier visit. */
  hasOwnScript: Signal<boolean>;
  setScript(text: string): void;
  /** Sets the mode, and what it stands for. */
  setMode(mode: CutMode): void;
};

export function createScriptForm(assetId: string): ScriptForm {
  // Members of a workspace may share a browser: nobody sees what another one has not sent.
  const key = `script.${me.value?.id ?? ""}.${assetId}`;
  const kept = recall(key);
  const script = signal(kept ?? "");
  const hasOwnScript = signal(kept !== null);
  const options = signal<CutOptions>(CUT_MODES.natural);
  return {
    script,
    options,
    hasOwnScript,
    setScript: (text) => {
      script.value = text;
      hasOwnScript.value = true;
      remember(key, text);
    },
    setMode: (mode) => {
      options.value = CUT_MODES[mode];
    },
  };
}
