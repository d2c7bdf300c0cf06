/** Shows the progress of a long command: a progress bar on a terminal, otherwise a line per stage. */
import { escapeControls } from "../lib/control-characters";

export type ProgressOutput = { isTTY?: boolean; columns?: number; write(text: string): unknown };

const BAR_WIDTH = 30;
const REDRAW_MS = 100;
/** The length of "transcribing". */
const MAX_STAGE_CHARACTERS = 12;
const CLEAR_LINE = "\r\x1b[K";

/** Creates the progress display. `now` returns milliseconds. */
export function createProgress(output: ProgressOutput, now: () => number = Date.now) {
  let last = "";
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  return {
    /** Shows the progress of a stage; `share` is 0 to 1. */
    show(name: string, stage: string, share: number) {
      const title = escapeControls(name);
      const isNew = last !== `${title} ${stage}`;
      last = `${title} ${stage}`;
      if (!output.isTTY) {
        if (isNew) output.write(`${title}: ${stage}\n`);
        return;
      }
      if (!isNew && share < 1 && now() - drawnAt < REDRAW_MS) return;
      drawnAt = now();
      isDrawn = true;
      output.write(`${CLEAR_LINE}${formatBar(title, stage, share, output.columns || 80)}`);
    },
    /** Removes the bar from the terminal, so that the next output starts on an empty line. */
    clear() {
      if (isDrawn) output.write(CLEAR_LINE);
      isDrawn = false;
    },
  };
}

function formatBar(title: string, stage: string, share: number, columns: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  const bar = `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)}`;
  const end = ` ${stage.padEnd(MAX_STAGE_CHARACTERS)} ${bar} ${String(Math.floor(share * 100)).padStart(3)}%`;
  const room = Math.max(0, columns - end.length - 1);
  return `${[...title].slice(0, room).join("")}${end}`;
}
