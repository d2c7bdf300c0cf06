/** Draws removed spans, and the audio in them and in the kept ones. */
import { type EditorPlan, findSpanIndex, type RemovalReason } from "../model/plan";
import { REASONS } from "../reasons";
import type { Lane } from "./lanes";
import { findPeak, type Waveform } from "./peaks";
import type { Colors } from "./use-canvas";
import { findInView, toTime, toX, type View } from "./view";

/** Height of the line at the top of a removed span. */
const CAP = 3;
/** Spans wider than this have the glyph of their reason. */
const MIN_GLYPH_WIDTH = 16;
/** Pauses are drawn without a glyph. */
const GLYPHS: Record<RemovalReason, string> = {
  silence: "",
  filler: "…",
  retake: "↺",
  off_script: "∕",
  noise: "~",
  manual: "▸",
};

type Context = CanvasRenderingContext2D;
export type SpansScene = {
  plan: EditorPlan;
  view: View;
  colors: Colors;
  waveform: Waveform | null;
  /** The reason to which the page is limited; the others are dimmed. */
  filter: RemovalReason | null;
};

/** Rectangles of one color. They are filled individually, because a path of thousands takes a hundred times as long. */
class Rectangles {
  readonly #values: number[] = [];
  #drawnTo = Number.NEGATIVE_INFINITY;

  /** Adds a rectangle to the right of the previous ones. One in the same half pixel is skipped. */
  add(x: number, y: number, width: number, height: number): void {
    if (x + width < this.#drawnTo + 0.5) return;
    this.#drawnTo = x + width;
    this.#values.push(x, y, width, height);
  }

  fill(context: Context, color: string, alpha: number): void {
    const values = this.#values;
    context.fillStyle = color;
    context.globalAlpha = alpha;
    for (let at = 0; at < values.length; at += 4)
      context.fillRect(values[at]!, values[at + 1]!, values[at + 2]!, values[at + 3]!);
    context.globalAlpha = 1;
  }
}

const createLists = () => new Map<RemovalReason, Rectangles>(REASONS.map((reason) => [reason, new Rectangles()]));

/** Draws a band for each removed span, with a cap and a glyph unless it is for an overview. */
export function drawSpans(context: Context, scene: SpansScene, lane: Lane, isOverview = false): void {
  const { plan, view, colors, filter } = scene;
  const [bands, caps] = [createLists(), createLists()];
  const glyphs: { text: string; x: number; reason: RemovalReason }[] = [];
  const [from, to] = findInView(plan.spans, view);
  for (let index = from; index < to; index++) {
    const span = plan.spans[index]!;
    if (span.isKept) continue;
    const x = Math.max(-2, toX(view, span.start));
    const width = Math.max(isOverview ? 0.5 : 1, Math.min(view.width + 2, toX(view, span.end)) - x);
    bands.get(span.reason)!.add(x, lane.top, width, lane.height);
    if (isOverview) continue;
    caps.get(span.reason)!.add(x, lane.top, Math.max(width - 0.5, 1.5), CAP);
    if (width > MIN_GLYPH_WIDTH && GLYPHS[span.reason] !== "")
      glyphs.push({ text: GLYPHS[span.reason], x: x + width / 2, reason: span.reason });
  }
  const dim = (reason: RemovalReason, bright: number, dimmed: number) =>
    filter === null || filter === reason ? bright : dimmed;
  for (const [reason, list] of bands)
    list.fill(context, colors.reasons[reason], dim(reason, isOverview ? 0.5 : 0.16, 0.05));
  for (const [reason, list] of caps) list.fill(context, colors.reasons[reason], dim(reason, 1, 0.2));
  context.font = `600 11px ${colors.family}`;
  context.textAlign = "center";
  for (const { text, x, reason } of glyphs) {
    context.fillStyle = colors.reasons[reason];
    context.globalAlpha = dim(reason, 1, 0.2);
    context.fillText(text, x, lane.top + CAP + 9);
  }
  context.globalAlpha = 1;
  context.textAlign = "left";
}

/** Draws the audio as one column a pixel: gray where it is kept, in the color of the reason where it is removed. */
export function drawWaveform(context: Context, scene: SpansScene, lane: Lane, isOverview = false): void {
  const { plan, view, colors, waveform, filter } = scene;
  if (!waveform) return;
  const kept = new Rectangles();
  const removed = createLists();
  const middle = lane.top + lane.height / 2;
  const most = lane.height / 2 - (isOverview ? 2 : 12);
  // Columns are aligned to the recording, so that they do not flicker while it scrolls.
  const offset = (Math.floor(view.start / view.scale) * view.scale - view.start) / view.scale;
  let at = findSpanIndex(plan, Math.max(0, toTime(view, 0)));
  let start = toTime(view, offset);
  for (let x = 0; x <= view.width; x++) {
    const end = toTime(view, offset + x + 1);
    if (start >= plan.duration) break;
    const center = (start + end) / 2;
    while (at < plan.spans.length - 1 && plan.spans[at]!.end <= center) at++;
    const span = plan.spans[at]!;
    const half = Math.max(0.5, findPeak(waveform, start, end) * most * (span.isKept ? 1 : 0.8));
    (span.isKept ? kept : removed.get(span.reason)!).add(x, middle - half, 1, half * 2);
    start = end;
  }
  kept.fill(context, colors.kept, filter === null ? 1 : 0.45);
  for (const [reason, list] of removed)
    list.fill(context, colors.reasons[reason], filter === null || filter === reason ? 0.75 : 0.15);
}

/** Draws the whole recording in a strip. */
export function drawOverview(context: Context, scene: SpansScene, height: number): void {
  const lane = { top: 0, height };
  context.clearRect(0, 0, scene.view.width, height);
  drawSpans(context, scene, lane, true);
  drawWaveform(context, scene, lane, true);
}
