import { getKeptDuration, toSeconds } from "../../editor/model/plan";
import type { Editor } from "../../editor/state/editor-state";
import type { Asset } from "./asset";
import { describeCut } from "./describe-cut";
import { OutputPanel } from "./output/output-panel";
import type { Output } from "./output/use-renders";
import type { Cuts } from "./use-cuts";
import type { Save } from "./use-save";

type OpenOutputProps = { output: Output; asset: Asset; cuts: Cuts; editor: Editor; save: Save };

/** Renders and exports of the open cut with its edits. */
export function OpenOutput({ output, asset, cuts, editor, save }: OpenOutputProps) {
  const listed = cuts.items;
  const describe = (cutId: string): string => {
    const all = listed.kind === "ready" ? listed.value : [];
    const cut = all.find(({ id }) => id === cutId);
    return cut === undefined ? "Cut" : describeCut(cut, all);
  };
  const plan = editor.cut?.plan ?? null;
  return (
    <OutputPanel
      output={output}
      asset={asset}
      cut={{ cutId: editor.cut?.id ?? null, isEdited: editor.canEdit && editor.isChanged.value, save: save.save }}
      cutSeconds={toSeconds(getKeptDuration(editor.latePlan.value))}
      hasWords={plan?.language != null || (plan?.segments.some(({ text }) => text !== "") ?? false)}
      describeCut={describe}
    />
  );
}
