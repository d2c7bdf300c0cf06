/**
 * How long a render takes while another user plays fifty recordings that browsers cannot decode. Counts shares of the
 * processor instead of measuring time: Linux gives them to programs in proportion to the weights of their priorities.
 */
import { expect, test } from "bun:test";
import { cpus } from "node:os";
import { createEncodingTurns } from "../../../../src/work/previews/encoding-turns";
import { openRunner } from "../../queue/open-runner";

const RECORDINGS = 50;
const CORES = cpus().length;
const RENDER_SECONDS = 300;
/** A page asks for pieces of this duration, and plays one before it asks for the next one. */
const PIECE_SECONDS = 2;
/** Processor time of a piece. The pages ask for more than the machine has. */
const PIECE_COST = 0.4;
const MAX_STEP_SECONDS = 0.1;

type Weights = { interactive: number; render: number; lowest: number };
type Program = { weight: number; leftSeconds: number; onEnd: () => void };

/** Shares the cores until the first program ends. Returns the seconds. */
function runPrograms(programs: Set<Program>): number {
  const total = [...programs].reduce((sum, { weight }) => sum + weight, 0);
  const getSpeed = ({ weight }: Program) => (CORES * weight) / total;
  const left = [...programs].map((program) => program.leftSeconds / getSpeed(program));
  const seconds = Math.min(MAX_STEP_SECONDS, ...left);
  for (const [n, program] of [...programs].entries()) {
    program.leftSeconds -= seconds * getSpeed(program);
    if (left[n]! > seconds) continue;
    programs.delete(program);
    program.onEnd();
  }
  return seconds;
}

/**
 * Renders while fifty pages play and a preview is made. All programs have as many threads as the machine has cores,
 * which is the worst case: a render has at least as many. Returns how many times as long it takes, and the numbers of
 * pieces.
 */
async function renderWhileOpen(weights: Weights): Promise<{ ratio: number; interactive: number; lowest: number }> {
  const start = 1e12;
  let now = start;
  const turns = createEncodingTurns(undefined, () => now);
  const programs = new Set<Program>();
  const closing = new AbortController();
  const counts = { interactive: 0, lowest: 0 };
  const request = { asset: { workspace_id: "opener" }, signal: closing.signal, seconds: PIECE_SECONDS };
  const readPiece = () =>
    turns.run(request, ({ priority, onEnd }) => {
      counts[priority]++;
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = () => {
        onEnd(PIECE_COST);
        resolve();
      };
      programs.add({ weight: weights[priority], leftSeconds: PIECE_COST, onEnd: end });
      return promise;
    });
  const pages = Array.from({ length: RECORDINGS }, () => ({ asksAt: start }));
  const play = (page: { asksAt: number }) => {
    page.asksAt = Number.POSITIVE_INFINITY;
    const onAnswer = () => {
      page.asksAt = now + PIECE_SECONDS * 1_000;
    };
    void readPiece().then(onAnswer, onAnswer);
  };

  let isRendered = false;
  const endRender = () => {
    isRendered = true;
  };
  programs.add({ weight: weights.render, leftSeconds: RENDER_SECONDS * CORES, onEnd: endRender });
  programs.add({ weight: weights.lowest, leftSeconds: Number.POSITIVE_INFINITY, onEnd: () => {} });
  while (!isRendered) {
    for (const page of pages) if (page.asksAt <= now) play(page);
    // All pieces that may start have started.
    await new Promise(setImmediate);
    now += runPrograms(programs) * 1_000;
  }
  closing.abort();
  for (const program of programs) program.onEnd();
  return { ratio: (now - start) / 1_000 / RENDER_SECONDS, ...counts };
}

test("a render waits for no preview, however many recordings another user opens", async () => {
  await using b = openRunner({ timeSliceMs: 60_000 });
  for (let n = 0; n < RECORDINGS; n++) b.source.add(`preview ${n}`, { name: "preview", workspaceId: "opener" });
  b.runner.start();
  await b.work.nth(1);
  b.source.add("render", { workspaceId: "editor" });
  b.runner.wake();
  expect((await b.work.nth(2)).job.stepId).toBe("render");
  // No second preview takes a share of the processor.
  b.runner.wake();
  await b.source.asked();
  expect(b.source.did).toEqual(["claim preview 0", "claim render"]);
  expect(b.work.started.map(({ context }) => context.shouldYield())).toEqual([false, false]);
});

// `sched_prio_to_weight` of Linux: niceness 0, 5 and 19 of programs, or 0, 0 and 15 of their sessions.
test.each([
  ["programs", { interactive: 1_024, render: 335, lowest: 15 }],
  ["sessions", { interactive: 1_024, render: 1_024, lowest: 36 }],
])("fifty recordings that another user plays delay a render by at most a tenth: shares of %s", async (_, weights) => {
  const { ratio, interactive, lowest } = await renderWhileOpen(weights);
  expect(interactive).toBeGreaterThan(0);
  expect(lowest).toBeGreaterThan(0);
  expect(ratio).toBeLessThanOrEqual(1.1);
});
