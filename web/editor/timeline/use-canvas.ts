/** Draws canvases with the colors of the design tokens. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { RemovalReason } from "../model/plan";

type Draw = (context: CanvasRenderingContext2D, colors: Colors) => void;
type CanvasOptions = { width: number; height: number; draw: Draw };

/**
 * Draws a canvas after each render, in the next animation frame. With `delayMs`, draws only after that time, so that
 * the frame that shows the page or an edit is not delayed. `read` runs in the frame. Returns a function that requests a
 * redraw.
 */
export function useCanvas(
  canvas: RefObject<HTMLCanvasElement | null>,
  read: () => CanvasOptions,
  delayMs = 0,
): () => void {
  const latest = useRef(read);
  latest.current = read;
  const frame = useRef(0);
  const colors = useRef<Colors | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const requestNow = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (frame.current === 0) frame.current = requestAnimationFrame(run);
  };
  const request = useRef(() => {
    if (delayMs === 0) requestNow();
    else timer.current ??= setTimeout(requestNow, delayMs);
  }).current;
  const run = () => {
    frame.current = 0;
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    const { width, height, draw } = latest.current();
    if (width <= 0) return;
    colors.current ??= readColors(element);
    const ratio = window.devicePixelRatio || 1;
    const [pixelsX, pixelsY] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (element.width !== pixelsX) element.width = pixelsX;
    if (element.height !== pixelsY) element.height = pixelsY;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(context, colors.current);
  };

  useEffect(request);
  useEffect(() => {
    const reload = () => {
      colors.current = null;
      requestNow();
    };
    const theme = new MutationObserver(reload);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    // Moving to a screen with another pixel ratio fires this event.
    window.addEventListener("resize", requestNow);
    return () => {
      theme.disconnect();
      window.removeEventListener("resize", requestNow);
      clearTimeout(timer.current);
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, []);
  return request;
}

export type Colors = {
  well: string;
  ground: string;
  line: string;
  text: string;
  soft: string;
  kept: string;
  brand: string;
  info: string;
  warning: string;
  playhead: string;
  reasons: Record<RemovalReason, string>;
  /** Family of the fonts. */
  family: string;
};

function readColors(element: Element): Colors {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(name).trim();
  return {
    well: read("--well"),
    ground: read("--ground"),
    line: read("--line"),
    text: read("--text"),
    soft: read("--text-3"),
    kept: read("--kept"),
    brand: read("--brand"),
    info: read("--info"),
    warning: read("--warn"),
    playhead: read("--playhead"),
    reasons: {
      silence: read("--pause"),
      filler: read("--filler"),
      retake: read("--retake"),
      off_script: read("--offscript"),
      noise: read("--noise"),
      manual: read("--byhand"),
    },
    family: read("--sans"),
  };
}
