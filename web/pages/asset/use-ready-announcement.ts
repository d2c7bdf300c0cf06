import { useEffect, useRef } from "preact/hooks";
import { formatDuration } from "../../app/format";
import type { Cut, Editor } from "../../editor/state/editor-state";

/** Announces to screen readers when an unfinished cut is ready. */
export function useReadyAnnouncement(editor: Editor, cut: Cut | null): void {
  const awaited = useRef<string | null>(null);
  useEffect(() => {
    if (cut === null) return;
    if (cut.state === "pending" || cut.state === "processing") awaited.current = cut.id;
    else if (awaited.current === cut.id) {
      awaited.current = null;
      if (cut.plan !== null)
        editor.announce(
          `The cut is ready: ${formatDuration(cut.plan.kept_duration)} of ${formatDuration(cut.plan.source_duration)}`,
        );
    }
  }, [editor, cut?.id, cut?.state]);
}
