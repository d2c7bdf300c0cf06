import { useSignalEffect } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { ActionButton } from "../../ui/button";
import { CONTEXT, type ReviewItem } from "../model/review-queue";
import { getLook } from "../reasons";
import { useEditor } from "../state/context";
import { findPeak } from "../timeline/peaks";
import { useCanvas } from "../timeline/use-canvas";

const HEIGHT = 60;

/** The audio around a place, with the playhead. */
export function ReviewWave({ item }: { item: ReviewItem }) {
  const { playback, strip } = useEditor();
  const { waveform } = strip;
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLSpanElement>(null);
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  const start = item.start - CONTEXT;
  const length = item.end - item.start + 2 * CONTEXT;
  useCanvas(canvas, () => ({
    width: box?.clientWidth ?? 0,
    height: HEIGHT,
    draw: (context, colors) => {
      const width = box!.clientWidth;
      context.clearRect(0, 0, width, HEIGHT);
      const look = getLook(item);
      const color = look === null ? colors.warning : colors.reasons[look];
      const toX = (time: number) => ((time - start) / length) * width;
      context.globalAlpha = 0.16;
      context.fillStyle = color;
      context.fillRect(toX(item.start), 0, toX(item.end) - toX(item.start), HEIGHT);
      context.globalAlpha = 1;
      if (waveform === null) return;
      for (let x = 0; x < width; x++) {
        const time = start + (x / width) * length;
        const peak = findPeak(waveform, time, time + length / width);
        const half = Math.max(0.5, (peak * (HEIGHT - 8)) / 2);
        context.fillStyle = time >= item.start && time < item.end ? color : colors.kept;
        context.fillRect(x, HEIGHT / 2 - half, 1, 2 * half);
      }
    },
  }));
  useSignalEffect(() => {
    const share = (playback.playhead.value - start) / length;
    if (!line.current) return;
    line.current.hidden = share < 0 || share > 1;
    line.current.style.left = `${share * 100}%`;
  });
  const isPlaying = playback.isPlaying.value;
  return (
    <div class="review-sound">
      <ActionButton name="review.again" icon={isPlaying ? "pause" : "play"} disabled={!playback.isReady.value} />
      <div class="review-wave" ref={setBox}>
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas takes no focus. */}
        <canvas ref={canvas} aria-hidden="true" />
        <span class="review-playhead" ref={line} />
      </div>
    </div>
  );
}
