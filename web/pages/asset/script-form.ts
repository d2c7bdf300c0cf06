/** The content of the script panel. It is kept when the user switches cuts, and between visits. */
import { type Signal, signal } from "@preact/signals";
import { CUT_MODES, type CutMode, type CutOptions } from "../../../src/domain/plan";
import { recall, remember } from "../../app/memory";
import { me } from "../../app/session";

export type ScriptForm = {
  script: Signal<string>;
  options: Signal<CutOptions>;
  /** Whether the script was entered here or on an earlier visit, not taken from a cut. */
  hasOwnScript: Signal<boolean>;
  /** Returns false if the browser does not keep the text until the next visit. */
  setScript(text: string): boolean;
  /** Sets the mode and the options that it implies. */
  setMode(mode: CutMode): void;
};

export function createScriptForm(assetId: string): ScriptForm {
  // Members of a workspace may share a browser: each sees only their own unsent script.
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
      return remember(key, text);
    },
    setMode: (mode) => {
      options.value = CUT_MODES[mode];
    },
  };
}
