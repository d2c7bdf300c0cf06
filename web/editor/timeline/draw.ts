/** Draws the timeline, except for the playhead, which moves without a redraw. */
import { formatDuration, formatTimecode } from "../../app/format";
import type { Difference } from "../model/compare";
import type { Edge } from "../model/edges";
import { type Range, toSeconds } from "../model/plan";
import { findWordAt, type Words } from "../model/words";
import { drawSpans, drawWaveform, type SpansScene } from "./draw-spans";
import type { Lane, Lanes } from "./lanes";
import { listTiles, type Sheets, type Storyboard } from "./storyboard";
import { chooseStep, endOf, findInView, toX } from "./view";

export type Scene = SpansScene & {
  words: Words;
  texts: readonly string[];
  storyboard: Storyboard | null;
  sheets: Sheets;
  selection: Range | null;
  differences: readonly Difference[];
  edge: Edge | null;
  lanes: Lanes;
};

type Context = CanvasRenderingContext2D;

/** Maximum number of microseconds per pixel at which words are shown. */
const MAX_WORD_SCALE = 16_000;

export function drawTimeline(context: Context, scene: Scene): void {
  const { view, lanes, colors } = scene;
  context.clearRect(0, 0, view.width, lanes.height);
  context.font = colors.font;
  context.textBaseline = "middle";
  drawRuler(context, scene, lanes.ruler);
  if (lanes.storyboard && scene.storyboard) drawStoryboard(context, scene, scene.storyboard, lanes.storyboard);
  drawSpans(context, scene, lanes.waveform, lanes.spans);
  drawWaveform(context, scene, lanes.waveform);
  if (lanes.differences) drawDifferences(context, scene, lanes.differences);
  drawWords(context, scene, lanes.words);
  if (scene.selection) drawSelection(context, scene, scene.selection);
  if (scene.edge) drawEdge(context, scene, scene.edge);
}

function drawRuler(context: Context, { view, colors }: Scene, { top, height }: Lane): void {
  const step = chooseStep(view, 72);
  const format = step < 1e6 ? formatTimecode : formatDuration;
  context.fillStyle = colors.soft;
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  context.textAlign = "left";
  const ticks = new Path2D();
  for (let time = Math.floor(view.start / step) * step; time < endOf(view); time += step) {
    const x = Math.round(toX(view, time)) + 0.5;
    ticks.moveTo(x, top + 4);
    ticks.lineTo(x, top + height);
    context.fillText(format(toSeconds(time)), x + 7, top + height / 2);
  }
  context.stroke(ticks);
}

function drawStoryboard(context: Context, scene: Scene, storyboard: Storyboard, lane: Lane): void {
  context.fillStyle = scene.colors.sunken;
  context.fillRect(0, lane.top, scene.view.width, lane.height);
  for (const { sheet, sourceX, sourceY, x, width } of listTiles(storyboard, scene.view, lane.height - 1)) {
    const image = scene.sheets.find(storyboard.getSheetUrl(sheet));
    if (!image) continue;
    const { width: sourceWidth, height } = storyboard;
    context.drawImage(image, sourceX, sourceY, sourceWidth, height, x, lane.top, width - 1, lane.height - 1);
  }
}

/** Draws the parts that only one of two cuts keeps: filled for this cut, outlined for the other. */
function drawDifferences(context: Context, { view, colors, differences }: Scene, lane: Lane): void {
  const [from, to] = findInView(differences, view);
  context.fillStyle = colors.info;
  context.strokeStyle = colors.info;
  context.lineWidth = 1.5;
  for (let index = from; index < to; index++) {
    const { start, end, only } = differences[index]!;
    const x = toX(view, start);
    const width = Math.max(2, toX(view, end) - x);
    if (only === "first") context.fillRect(x, lane.top + 3, width, lane.height - 4);
    else context.strokeRect(x + 0.75, lane.top + 3.75, Math.max(0.5, width - 1.5), lane.height - 5.5);
  }
}

function drawWords(context: Context, { view, colors, words, texts }: Scene, lane: Lane): void {
  if (view.scale > MAX_WORD_SCALE) return;
  context.fillStyle = colors.text;
  context.textAlign = "left";
  const end = endOf(view);
  let free = Number.NEGATIVE_INFINITY;
  for (let index = Math.max(0, findWordAt(words, view.start)); index < words.text.length; index++) {
    if (words.start[index]! > end) break;
    const text = texts[index]!;
    const x = toX(view, words.start[index]!);
    if (text === "" || x < free) continue;
    context.fillText(text, x, lane.top + lane.height / 2);
    free = x + context.measureText(text).width + 4;
  }
}

function drawSelection(context: Context, { view, colors, lanes }: Scene, { start, end }: Range): void {
  const x = toX(view, start);
  const width = Math.max(1, toX(view, end) - x);
  context.fillStyle = colors.focus;
  context.globalAlpha = 0.18;
  context.fillRect(x, lanes.ruler.height, width, lanes.height - lanes.ruler.height);
  context.globalAlpha = 1;
  context.fillRect(x, lanes.ruler.height, 1, lanes.height);
  context.fillRect(x + width - 1, lanes.ruler.height, 1, lanes.height);
}

/** Draws the selected edge: a line with a bracket towards the kept span. */
function drawEdge(context: Context, { view, colors, lanes }: Scene, { time, side }: Edge): void {
  const x = toX(view, time);
  const top = lanes.waveform.top;
  const height = lanes.waveform.height + lanes.spans.height;
  const inside = side === "start" ? 0 : -6;
  context.fillStyle = colors.focus;
  context.fillRect(x - 1, top, 2, height);
  context.fillRect(x + inside, top, 6, 2);
  context.fillRect(x + inside, top + height - 2, 6, 2);
}
