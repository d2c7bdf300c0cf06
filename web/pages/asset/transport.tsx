import { useComputed } from "@preact/signals";
import { toNumber } from "../../app/english";
import { formatTimecode } from "../../app/format";
import { getKeptDuration, toSeconds } from "../../editor/model/plan";
import type { PlayerMode } from "../../editor/player/cut-player";
import type { Editor } from "../../editor/state/editor-state";
import type { Playback } from "../../editor/state/playback";
import { Button } from "../../ui/button";

const RATES = [0.5, 1, 1.5, 2, 3];

/** Playback controls and the current position. */
export function Transport({ editor, playback }: { editor: Editor; playback: Playback }) {
  const time = useComputed(() => formatTimecode(toSeconds(playback.playhead.value)));
  // Not a computed signal: it would keep following the first editor's plan after another cut is opened.
  const kept = formatTimecode(toSeconds(getKeptDuration(editor.latePlan.value)));
  return (
    <div class="transport">
      <PlayButton playback={playback} mode="cut" label="Play cut" />
      <PlayButton playback={playback} mode="source" label="Play source" />
      <span class="transport-time number" title="Position in the recording">
        {time} <span class="soft">/ {formatTimecode(toSeconds(editor.latePlan.value.duration))}</span>
      </span>
      <span class="spacer" />
      <span class="soft number" title="Duration of the cut">
        Cut {kept}
      </span>
      <select
        class="input rate"
        aria-label="Speed"
        value={String(playback.rate.value)}
        onChange={(event) => playback.setRate(Number(event.currentTarget.value))}
      >
        {RATES.map((rate) => (
          <option key={rate} value={String(rate)}>
            {toNumber(rate)}×
          </option>
        ))}
      </select>
    </div>
  );
}

const PlayButton = ({ playback, mode, label }: { playback: Playback; mode: PlayerMode; label: string }) => {
  const isOn = playback.isPlaying.value && playback.mode.value === mode;
  return (
    <Button
      icon={isOn ? "pause" : "play"}
      look={mode === "cut" ? "primary" : "default"}
      aria-pressed={isOn}
      disabled={!playback.isReady.value}
      onClick={() => playback.toggle(mode)}
    >
      {label}
    </Button>
  );
};
