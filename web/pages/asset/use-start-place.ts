/** Plays from the time that the address of a recording names, such as `?at=12.5`. */
import { effect, untracked, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { isRemoved } from "../../editor/model/plan";
import { type EditorContextValue, openTab } from "../../editor/state/context";

const MICROSECONDS = 1_000_000;
/** The player may snap the playhead to a frame. */
const MAX_SNAP = 200_000;

/**
 * Moves the playhead there and plays as soon as that is possible, unless it was moved meanwhile. What the cut has removed is played from the source.
 * The time leaves the address, so that a reload does not play again.
 */
export function useStartPlace({ editor, playback }: Pick<EditorContextValue, "editor" | "playback">): void {
  const { query, path, route } = useLocation();
  const wanted = useSignal<number | null>(null);
  const { at, cut } = query;
  useEffect(() => {
    if (at === undefined) return;
    const time = /^\d{1,9}(\.\d{1,9})?$/.test(at) ? Math.round(Number(at) * MICROSECONDS) : null;
    if (time !== null && time < editor.plan.peek().duration) {
      openTab.value = "transcript";
      playback.seek(time);
      wanted.value = time;
    }
    route(cut === undefined ? path : `${path}?cut=${cut}`, true);
  }, [at]);
  useEffect(
    () =>
      effect(() => {
        const { value: time } = wanted;
        if (time === null || !playback.isReady.value) return;
        wanted.value = null;
        untracked(() => {
          if (Math.abs(playback.playhead.value - time) > MAX_SNAP) return;
          const isGone = isRemoved(editor.plan.value, { start: time, end: time + 1 });
          playback.play(isGone ? "source" : undefined);
        });
      }),
    [editor, playback],
  );
}
