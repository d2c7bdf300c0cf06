/** The open recording and cut, for all parts of the editor's page. */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";
import type { DraftKeeper } from "../../pages/asset/draft-keeper";
import type { Output } from "../../pages/asset/output/use-output";
import type { ScriptForm } from "../../pages/asset/script";
import type { Cuts } from "../../pages/asset/use-cuts";
import type { Asset, AssetMedia, Strip } from "../../pages/asset/use-media";
import type { Save } from "../../pages/asset/use-save";
import type { Difference, Range } from "../model/plan";
import type { Clock } from "../model/timecodes";
import type { Cut, Editor } from "./editor-state";
import type { Playback } from "./playback";

export type EditorContextValue = {
  asset: Asset;
  /** The open cut in any state; null if the recording has none. */
  cut: Cut | null;
  cuts: Cuts;
  /** Words, plan, history, selection and feedback. `editor.canEdit`: whether the user may edit. */
  editor: Editor;
  playback: Playback;
  /** Null if the cut is read-only. */
  keeper: DraftKeeper | null;
  save: Save;
  /** Allows undo to cross a cut that is being made from the edits of `kept`, unless another version is open. */
  recut(cutId: string, kept: string): void;
  /** Makes a cut that keeps the whole recording, and removes a range when it is open. */
  cutByHand(range: Range | null): Promise<void>;
  /** Null while it is loading. */
  media: AssetMedia | null;
  /** Audio peaks and thumbnails, each null until it is loaded. */
  strip: Strip;
  output: Output;
  /** Duration of a frame in microseconds; 40 ms without video. */
  frame: number;
  /** The ranges that only one of two compared cuts keeps. */
  differences: Signal<readonly Difference[]>;
  /** The unsent script and options. */
  form: ScriptForm;
  /** The recording's clock, for timecodes. */
  clock: Clock;
  /** Why the transcript could not be loaded, or null. */
  problem: string | null;
};

export const EditorContext = createContext<EditorContextValue | null>(null);

export function useEditor(): EditorContextValue {
  const value = useContext(EditorContext);
  if (value === null) throw new Error("There is no editor around this component.");
  return value;
}

/** The tabs of the right column. */
export const TABS = ["transcript", "review", "takes", "script", "renders"] as const;
export type TabName = (typeof TABS)[number];

/** The open tab of the right column. It stays open when another cut is opened. */
export const openTab = signal<TabName>("transcript");

/**
 * Returns a value computed from signals. `useComputed` keeps its value until a signal that it read changes, even if a
 * prop now contains another signal. List everything that comes from props in `dependencies`.
 */
export const useComputedOf = <T>(compute: () => T, dependencies: unknown[]): ReadonlySignal<T> =>
  useMemo(() => computed(compute), dependencies);
