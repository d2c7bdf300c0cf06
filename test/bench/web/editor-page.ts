/**
 * The page of the editor's benchmarks: transcript and timeline with a generated recording. Address:
 * `?words=30000&cuts=2000`.
 */
import { signal } from "@preact/signals";
import { h, render } from "preact";
import { applyTheme } from "../../../web/app/theme";
import { applyCorrections, correctWords } from "../../../web/editor/model/corrections";
import { moveEdge } from "../../../web/editor/model/edges";
import type { Correction } from "../../../web/editor/model/history";
import { comparePlans, type EditorPlan, type Range, removeRange } from "../../../web/editor/model/plan";
import { findText, toggleWords, type WordRange } from "../../../web/editor/model/words";
import { readWaveform } from "../../../web/editor/timeline/peaks";
import { Timeline } from "../../../web/editor/timeline/timeline";
import { Transcript } from "../../../web/editor/transcript/transcript";
import { makeRecording } from "./recording";

const query = new URLSearchParams(location.search);
const { words, plan: start, waveform: bytes } = makeRecording(Number(query.get("words") ?? 600), query.get("language"));
const plan = signal<EditorPlan>(start);
const settled = { plan: start };
const corrections = signal<readonly Correction[]>([]);
const playhead = signal(Number(query.get("at") ?? 0) * 1e6);
const selection = signal<WordRange | null>(null);
const marked = signal<Range | null>(null);
const found = signal<readonly WordRange[]>([]);
const waveform = readWaveform(bytes);
const other = query.has("compare") ? removeRange(start, { start: 20e6, end: 24e6 }) : null;
const interval = Math.max(2, start.duration / 2e9);
const pictures = Math.ceil(start.duration / 1e6 / interval);
const storyboard = {
  interval,
  count: pictures,
  width: 160,
  height: 90,
  columns: 10,
  rows: 10,
  picture: { x: 0, y: 0, width: 160, height: 90 },
  sheets: Math.ceil(pictures / 100),
  getSheetUrl: (sheet: number) => `/storyboard/${sheet}`,
};
const seek = (time: number) => {
  playhead.value = time;
};

const ShownTranscript = () =>
  h(Transcript, {
    words,
    language: "en",
    texts: applyCorrections(words, corrections.value),
    plan: plan.value,
    playhead,
    selection,
    found: found.value,
    onSeek: seek,
    onToggle: (range) => {
      plan.value = toggleWords(plan.value, words, range).plan;
      settled.plan = plan.value;
    },
    onCorrect: (range, text) => {
      corrections.value = correctWords(corrections.value, words, range, text);
    },
  });

const ShownTimeline = () =>
  h(Timeline, {
    plan: plan.value,
    words,
    waveform,
    storyboard: query.has("audio") ? null : storyboard,
    playhead,
    selection: marked.value,
    differences: other ? comparePlans(plan.value, other) : [],
    onSeek: seek,
    onMoveEdge: (edge, to, isDone) => {
      plan.value = moveEdge(settled.plan, edge, to);
      if (isDone) settled.plan = plan.value;
    },
    onSelect: (range) => {
      marked.value = range;
    },
    onHold: () => null,
  });

const parts = { transcript: ShownTranscript, timeline: ShownTimeline };
const bench = {
  plan,
  playhead,
  selection,
  words,
  find: (text: string) => {
    found.value = findText(words, text);
  },
  toggle: (range: WordRange) => {
    plan.value = toggleWords(plan.value, words, range).plan;
  },
  /** Mounts a part and returns the milliseconds until the frame after it. */
  mount: (part: keyof typeof parts) =>
    new Promise<{ rendered: number; painted: number }>((resolve) => {
      const element = document.getElementById(part)!;
      const before = performance.now();
      render(h(parts[part], {}), element);
      const rendered = performance.now() - before;
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve({ rendered, painted: performance.now() - before });
        port2.postMessage(null);
      });
    }),
};

applyTheme();
Object.assign(window, { bench });
export type EditorBench = typeof bench;
