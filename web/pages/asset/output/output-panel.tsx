/** The output of a cut: buttons and dialogs for renders and exports, and the list of renders. */
import { useLocation } from "preact-iso";
import type { Schemas } from "../../../app/api";
import { canWrite } from "../../../app/session";
import { showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import type { EditedCut } from "./edited-cut";
import { ExportDialog } from "./export-dialog";
import { RenderDialog } from "./render-dialog";
import { RenderList } from "./render-list";
import type { Output } from "./use-renders";

/** The buttons "Render" and "Export". A viewer may only export. */
export const OutputButtons = ({ output, canExport }: { output: Output; canExport: boolean }) => (
  <div class="output-buttons">
    {canWrite.value && <Button onClick={() => (output.opened.value = "render")}>Render</Button>}
    <Button
      disabled={!canExport}
      title={canExport ? undefined : canWrite.value ? "Create a cut first" : "There is no cut yet"}
      onClick={() => (output.opened.value = "export")}
    >
      Export
    </Button>
  </div>
);

type OutputPanelProps = {
  output: Output;
  asset: Schemas["AssetDetail"];
  cut: EditedCut;
  /** Duration of the edited cut in seconds. */
  cutSeconds: number;
  /** Whether the cut was made with a transcript. */
  hasWords: boolean;
  describeCut(cutId: string): string;
};

/** The list of renders, and the open dialog. */
export function OutputPanel({ output, asset, cut, cutSeconds, hasWords, describeCut }: OutputPanelProps) {
  const { opened, renders } = output;
  const { route } = useLocation();
  const close = () => (opened.value = null);
  const onStarted = () => {
    void renders.reload();
    showToast({
      kind: "info",
      text: "Render started. The file is listed under Renders.",
      action: { label: "Show", run: () => showRenders() || route(`/assets/${asset.id}`) },
    });
  };
  return (
    <>
      <RenderList
        renders={renders}
        describeSource={(cutId) => (cutId === null ? "Whole recording" : describeCut(cutId))}
      />
      {opened.value === "export" && <ExportDialog asset={asset} cut={cut} hasWords={hasWords} onClose={close} />}
      {opened.value === "render" && (
        <RenderDialog asset={asset} cut={cut} cutSeconds={cutSeconds} onStarted={onStarted} onClose={close} />
      )}
    </>
  );
}

/** Scrolls to the list of renders. Returns whether its page is still open. */
function showRenders(): boolean {
  const panel = document.getElementById("renders");
  panel?.scrollIntoView({ block: "center" });
  panel?.focus({ preventScroll: true });
  return panel !== null;
}
