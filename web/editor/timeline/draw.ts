/** Draws the timeline, except for the playhead, which moves without a redraw. */
import { formatDuration, formatTimecode } from "../../app/format";
import type { Edge } from "../model/edges";
import { type Difference, type Range, toSeconds } from "../model/plan";
import { findWordAt, type WordRange, type Words } from "../model/words";
import { drawSpans, drawWaveform, type SpansScene } from "./draw-spans";
import { canDragEdge, MIN_WIDTH } from "./gestures";
import type { Lane, Lanes } from "./lanes";
import { listTiles, type Sheets, type Storyboard } from "./storyboard";
import { chooseStep, endOf, findInView, isInView, toTime, toX } from "./view";

export type Scene = SpansScene & {
  words: Words;
  texts: readonly string[];
  storyboard: Storyboard | null;
  sheets: Sheets;
  selection: Range | null;
  found: readonly WordRange[];
  /** Places to review, by time. */
  marks: readonly Range[];
  differences: readonly Difference[];
  edge: Edge | null;
  /** Removed times between kept spans whose edges have handles. */
  joins: readonly Range[];
  lanes: Lanes;
  /** Whether fingers drag the ends of the selection. */
  hasGrips: boolean;
};

type Context = CanvasRenderingContext2D;

/** Maximum number of microseconds per pixel at which words are shown. */
const MAX_WORD_SCALE = 16_000;

export function drawTimeline(context: Context, scene: Scene): void {
  const { view, lanes, colors } = scene;
  const { ruler, storyboard, waveform, differences } = lanes;
  context.clearRect(0, 0, view.width, lanes.height);
  context.fillStyle = colors.well;
  context.fillRect(0, ruler.height, view.width, lanes.height - ruler.height);
  context.textBaseline = "middle";
  if (storyboard && scene.storyboard) drawStoryboard(context, scene, scene.storyboard, storyboard);
  drawRuler(context, scene, ruler);
  drawSpans(context, scene, waveform);
  drawWaveform(context, scene, waveform);
  if (differences) drawDifferences(context, scene, differences);
  drawWords(context, scene, waveform);
  drawFound(context, scene);
  if (scene.selection) drawSelection(context, scene, scene.selection);
  for (const join of scene.joins) drawHandles(context, scene, join);
  if (scene.edge) drawEdge(context, scene, scene.edge, colors.brand);
  drawReviews(context, scene, ruler);
}

/** Space between two labels of the ruler. */
const LABEL_WIDTH = 84;
const MIN_LABEL_DISTANCE = 48;

function drawRuler(context: Context, { view, colors, lanes }: Scene, { height }: Lane): void {
  const step = chooseStep(view, LABEL_WIDTH);
  const format = step < 1e6 ? formatTimecode : formatDuration;
  const end = endOf(view);
  context.font = `500 11px ${colors.family}`;
  context.fillStyle = colors.line;
  for (let time = Math.floor(toTime(view, 0) / (step / 5)) * (step / 5); time < end; time += step / 5)
    context.fillRect(Math.round(toX(view, time)), height - 5, 1, 5);
  let last = Number.NEGATIVE_INFINITY;
  for (let time = Math.floor(toTime(view, 0) / step) * step; time < end; time += step) {
    const x = Math.round(toX(view, time));
    // In a collapsed timeline, labels may be closer to each other.
    if (x - last < MIN_LABEL_DISTANCE) continue;
    last = x;
    context.fillStyle = colors.line;
    context.fillRect(x, 6, 1, lanes.height - 6);
    context.fillStyle = colors.soft;
    context.fillText(format(toSeconds(time)), x + 5, height / 2);
  }
}

/** Draws a diamond in the ruler for each place to review. */
function drawReviews(context: Context, { marks, view, colors }: Scene, { height }: Lane): void {
  let last = Number.NEGATIVE_INFINITY;
  context.fillStyle = colors.text;
  for (const { start } of marks) {
    const x = toX(view, start);
    if (!isInView(view, start) || x - last < 6) continue;
    last = x;
    context.beginPath();
    context.moveTo(x, height - 2);
    context.lineTo(x + 4.5, height - 6.5);
    context.lineTo(x, height - 11);
    context.lineTo(x - 4.5, height - 6.5);
    context.fill();
  }
}

function drawStoryboard(context: Context, scene: Scene, storyboard: Storyboard, lane: Lane): void {
  context.fillStyle = scene.colors.well;
  context.fillRect(0, lane.top, scene.view.width, lane.height);
  for (const { sheet, sourceX, sourceY, x, width } of listTiles(storyboard, scene.view, lane.height - 1)) {
    const image = scene.sheets.find(storyboard.getSheetUrl(sheet));
    if (!image) continue;
    const { width: sourceWidth, height } = storyboard.picture;
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
  context.font = `11px ${colors.family}`;
  const end = endOf(view);
  let free = Number.NEGATIVE_INFINITY;
  for (let index = Math.max(0, findWordAt(words, toTime(view, 0))); index < words.text.length; index++) {
    if (words.start[index]! > end) break;
    const text = texts[index]!;
    const x = toX(view, words.start[index]!);
    if (text === "" || x < free) continue;
    context.fillText(text, x, lane.top + lane.height - 8);
    free = x + context.measureText(text).width + 4;
  }
}

/** Draws a bar at the foot for each match of a search. */
function drawFound(context: Context, { view, colors, words, found, lanes }: Scene): void {
  const end = endOf(view);
  const start = toTime(view, 0);
  context.fillStyle = colors.warning;
  for (const range of found) {
    const to = words.end[range.to - 1]!;
    const from = words.start[range.from]!;
    if (to < start) continue;
    if (from > end) break;
    const x = toX(view, from);
    context.fillRect(x, lanes.height - 4, Math.max(3, toX(view, to) - x), 4);
  }
}

/** A grip is outside of the selection, which may be narrower than a finger, but not outside of the timeline. */
const GRIP = { width: 14, height: 28, radius: 5 };

function drawSelection(context: Context, scene: Scene, { start, end }: Range): void {
  const { view, colors, lanes, hasGrips } = scene;
  const x = toX(view, start);
  const width = Math.max(1, toX(view, end) - x);
  context.fillStyle = colors.brand;
  context.globalAlpha = 0.28;
  context.fillRect(x, lanes.ruler.height, width, lanes.height - lanes.ruler.height);
  context.globalAlpha = 1;
  context.fillRect(x, lanes.ruler.height, 1.5, lanes.height);
  context.fillRect(x + width - 1.5, lanes.ruler.height, 1.5, lanes.height);
  if (!hasGrips) return;
  const top = lanes.waveform.top + (lanes.waveform.height - GRIP.height) / 2;
  for (const isStart of [true, false]) {
    const edge = isStart ? x : x + width;
    if (edge < -1 || edge > view.width + 1) continue;
    const left = isStart ? Math.max(0, x - GRIP.width + 1.5) : Math.min(view.width - GRIP.width, edge - 1.5);
    const corners = isStart ? [GRIP.radius, 0, 0, GRIP.radius] : [0, GRIP.radius, GRIP.radius, 0];
    context.fillStyle = colors.brand;
    context.beginPath();
    context.roundRect(left, top, GRIP.width, GRIP.height, corners);
    context.fill();
    context.fillStyle = colors.ground;
    context.fillRect(left + GRIP.width / 2 - 0.75, top + 8, 1.5, GRIP.height - 16);
  }
}

/** Draws the edges of a join that can be dragged. */
function drawHandles(context: Context, scene: Scene, { start, end }: Range): void {
  const { view, plan, colors, lanes } = scene;
  if (toX(view, end) - toX(view, start) < MIN_WIDTH) return;
  const edges: Edge[] = [
    { time: start, side: "end" },
    { time: end, side: "start" },
  ];
  for (const edge of edges) {
    if (!canDragEdge(plan, view, edge)) continue;
    drawEdge(context, scene, edge, colors.text);
    const outside = edge.side === "start" ? 0 : -HANDLE.width;
    context.beginPath();
    const top = lanes.waveform.top + (lanes.waveform.height - HANDLE.height) / 2;
    context.roundRect(toX(view, edge.time) + outside, top, HANDLE.width, HANDLE.height, HANDLE.radius);
    context.fill();
  }
}

const HANDLE = { width: 6, height: 24, radius: 2 };

/** Draws an edge: a line with a bracket towards the kept span. */
function drawEdge(context: Context, { view, lanes }: Scene, { time, side }: Edge, color: string): void {
  const x = toX(view, time);
  const top = lanes.waveform.top;
  const { height } = lanes.waveform;
  const inside = side === "start" ? 0 : -6;
  context.fillStyle = color;
  context.fillRect(x - 1, top, 2, height);
  context.fillRect(x + inside, top, 6, 2);
  context.fillRect(x + inside, top + height - 2, 6, 2);
}
