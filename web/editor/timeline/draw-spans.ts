/** Draws kept and removed spans, and the audio in them. */
import { type EditorPlan, findSpanIndex, type RemovalReason } from "../model/plan";
import { REASONS } from "../reasons";
import type { Colors } from "./colors";
import type { Lane } from "./lanes";
import { findPeak, type Waveform } from "./peaks";
import { endOf, findInView, toX, type View } from "./view";

/** Spans narrower than this have no hatching and no gap. */
const MIN_HATCHED = 5;
const BAR = 2;
const BAR_STEP = 3;

type Context = CanvasRenderingContext2D;
export type SpansScene = { plan: EditorPlan; view: View; colors: Colors; waveform: Waveform | null };

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

  fill(context: Context, color: string): void {
    const values = this.#values;
    context.fillStyle = color;
    for (let at = 0; at < values.length; at += 4)
      context.fillRect(values[at]!, values[at + 1]!, values[at + 2]!, values[at + 3]!);
  }
}

/** Draws the removed spans: a strip in the color of the reason, and hatching above it. */
export function drawSpans(context: Context, { plan, view, colors }: SpansScene, waveform: Lane, strip: Lane): void {
  const removed = new Map<RemovalReason, Rectangles>(REASONS.map((reason) => [reason, new Rectangles()]));
  const [kept, reviews, dimmed, hatched] = [new Rectangles(), new Rectangles(), new Rectangles(), new Path2D()];
  const flags: number[] = [];
  const [from, to] = findInView(plan.spans, view);
  for (let index = from; index < to; index++) {
    const span = plan.spans[index]!;
    const x = Math.max(-2, toX(view, span.start));
    const width = Math.max(0.5, Math.min(view.width + 2, toX(view, span.end)) - x);
    const isWide = width >= MIN_HATCHED;
    (span.isKept ? kept : removed.get(span.reason)!).add(x, strip.top, isWide ? width - 1 : width, strip.height);
    if (!span.isKept) {
      dimmed.add(x, waveform.top, width, waveform.height);
      if (isWide) hatched.rect(x, waveform.top, width, waveform.height);
    } else if (span.review !== null) {
      reviews.add(x, waveform.top, width, 2);
      if (x - (flags.at(-1) ?? Number.NEGATIVE_INFINITY) >= MIN_HATCHED) flags.push(x);
    }
  }
  dimmed.fill(context, colors.sunken);
  context.save();
  context.clip(hatched);
  context.strokeStyle = colors.line;
  context.lineWidth = 1.5;
  context.stroke(getHatching(view, waveform));
  context.restore();
  kept.fill(context, colors.kept);
  for (const [reason, rectangles] of removed) rectangles.fill(context, colors.reasons[reason]);
  reviews.fill(context, colors.warning);
  for (const x of flags) drawFlag(context, x, waveform.top);
}

/** Draws a triangle at the start of a span to review. */
function drawFlag(context: Context, x: number, top: number): void {
  context.beginPath();
  context.moveTo(x, top);
  context.lineTo(x + 9, top);
  context.lineTo(x, top + 9);
  context.fill();
}

/** Returns slanted lines that move with the recording. */
function getHatching(view: View, { top, height }: Lane): Path2D {
  const path = new Path2D();
  const distance = 8;
  const offset = -((view.start / view.scale) % distance);
  for (let x = offset - height; x < view.width + distance; x += distance) {
    path.moveTo(x, top + height);
    path.lineTo(x + height, top);
  }
  return path;
}

/** Draws the audio as bars, colored in kept spans and dimmed elsewhere. */
export function drawWaveform(context: Context, { plan, view, colors, waveform }: SpansScene, lane: Lane): void {
  if (!waveform) return;
  const [kept, removed] = [new Rectangles(), new Rectangles()];
  const middle = lane.top + lane.height / 2;
  const most = lane.height / 2 - 4;
  const step = view.scale * BAR_STEP;
  const end = endOf(view);
  let at = findSpanIndex(plan, view.start);
  for (let time = Math.floor(view.start / step) * step; time < end; time += step) {
    const center = time + step / 2;
    while (at < plan.spans.length - 1 && plan.spans[at]!.end <= center) at++;
    const half = Math.max(0.5, (findPeak(waveform, time, time + step) / 255) * most);
    (plan.spans[at]!.isKept ? kept : removed).add(toX(view, time), middle - half, BAR, half * 2);
  }
  context.globalAlpha = 0.45;
  removed.fill(context, colors.soft);
  context.globalAlpha = 1;
  kept.fill(context, colors.kept);
}

/** Draws the whole recording in a strip: one column per pixel, in the color of its span. */
export function drawOverview(context: Context, { plan, view, colors, waveform }: SpansScene, height: number): void {
  context.clearRect(0, 0, view.width, height);
  drawSpans(context, { plan, view, colors, waveform }, { top: 0, height: height - 6 }, { top: height - 5, height: 5 });
  drawWaveform(context, { plan, view, colors, waveform }, { top: 0, height: height - 6 });
}
