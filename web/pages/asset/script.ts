/**
 * Reads a script from a file, and keeps the content of the script panel. Subtitles and Markdown are sent unchanged: the
 * server parses them.
 */
import { type Signal, signal } from "@preact/signals";
import { CUT_MODES, type CutMode, type CutOptions } from "../../../src/domain/plan";
import { decodeText } from "../../../src/domain/text/decode";
import { formatBytes } from "../../app/format";
import { createKept } from "../../app/kept";

const MAX_TEXT_BYTES = 2_000_000;
const MAX_DOCX_BYTES = 20_000_000;

/** Returns the text of a file. Throws `Error` with advice for the user as the message. */
export async function readScript(file: File): Promise<string> {
  const name = file.name.toLowerCase();
  if (name.endsWith(".docx")) {
    if (file.size > MAX_DOCX_BYTES)
      throw new Error(`The document is larger than ${formatBytes(MAX_DOCX_BYTES)}. Save the script alone as a file.`);
    // The parser is loaded when it is first needed.
    const { readDocx } = await import("./docx");
    return readDocx(new Uint8Array(await file.arrayBuffer()));
  }
  if (/\.(doc|odt|pages|pdf|rtf)$/.test(name))
    throw new Error("This document type is not supported. Save the script as DOCX or text, or paste it.");
  if (file.size > MAX_TEXT_BYTES)
    throw new Error(`The file is larger than ${formatBytes(MAX_TEXT_BYTES)}. Save the script alone as a text file.`);
  const text = decodeText(new Uint8Array(await file.arrayBuffer()));
  if (text.includes("\0"))
    throw new Error("The file is not a text file. Save the script as text or DOCX, or paste it.");
  return text.replaceAll("\r\n", "\n");
}

export type ScriptForm = {
  script: Signal<string>;
  options: Signal<CutOptions>;
  /** Whether the script was entered here or on an earlier visit, not taken from a cut. */
  hasOwnScript: Signal<boolean>;
  /** The mode of the cut that is made once the recording is ready; null until it is chosen here or read. */
  planned: Signal<CutMode | "off" | null>;
  /** The one that the server knows. */
  savedPlan: Signal<CutMode | "off">;
  /** Returns false if the browser does not keep the text until the next visit. */
  setScript(text: string): boolean;
  /** Removes the stored text if it equals this one: a cut or the planned cut now has it. */
  clearSaved(text: string): void;
  /** Sets the mode and the options that it implies. */
  setMode(mode: CutMode): void;
  /** Sets the planned mode, which is also that of a cut that is made by hand. */
  setPlanned(mode: CutMode | "off"): void;
};

const kept = createKept("script", (value) => typeof value === "string");

export function createScriptForm(assetId: string): ScriptForm {
  const own = kept.read(assetId);
  const script = signal(own ?? "");
  const hasOwnScript = signal(own !== null);
  const options = signal<CutOptions>(CUT_MODES.natural);
  const planned = signal<CutMode | "off" | null>(null);
  const savedPlan = signal<CutMode | "off">("off");
  const setMode = (mode: CutMode) => {
    options.value = CUT_MODES[mode];
  };
  return {
    script,
    options,
    hasOwnScript,
    planned,
    savedPlan,
    setScript: (text) => {
      script.value = text;
      hasOwnScript.value = true;
      return kept.write(assetId, text);
    },
    clearSaved: (text) => {
      if (!hasOwnScript.peek() || script.peek() !== text) return;
      hasOwnScript.value = false;
      // Another tab may have kept a later text.
      if (kept.read(assetId) === text) kept.clear(assetId);
    },
    setMode,
    setPlanned: (mode) => {
      planned.value = mode;
      if (mode !== "off") setMode(mode);
    },
  };
}
