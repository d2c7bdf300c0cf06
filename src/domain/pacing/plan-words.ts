/** Codes the texts of spans as numbers of words of the plan. */
import type { PlanJson } from "../plan-json";
import type { ValueCoder } from "./value-coder";

const MAX_SKIPPED_WORDS = 50;

/** The words of a plan in order of time, and which one comes next. */
export class PlanWords {
  readonly #words: readonly string[];
  #next = 0;

  constructor({ segments, removed }: Pick<PlanJson, "segments" | "removed">) {
    this.#words = [...segments, ...removed]
      .toSorted((a, b) => a.start - b.start)
      .flatMap(({ text }) => (text === "" ? [] : text.split(" ")));
  }

  /** Returns the next words, and moves on. */
  take(count: number): string {
    const text = this.#words.slice(this.#next, this.#next + count).join(" ");
    this.#next += count;
    return text;
  }

  /** Moves behind these words, if they are nearby. */
  skip(text: string): void {
    const wanted = split(text);
    for (let at = Math.max(0, this.#next - MAX_SKIPPED_WORDS); at <= this.#next + MAX_SKIPPED_WORDS; at++) {
      if (!wanted.every((word, i) => word === this.#words[at + i])) continue;
      this.#next = at + wanted.length;
      return;
    }
  }

  /** Returns how many of the next words a text has; null if it has others. */
  countNext(text: string): number | null {
    const wanted = split(text);
    return wanted.every((word, i) => word === this.#words[this.#next + i]) ? wanted.length : null;
  }

  /** Writes or reads a text: the number of the next words, or other words. */
  code(coder: ValueCoder, name: string, text: string): string {
    const count = this.countNext(text);
    if (coder.flag(`${name}.next`, count !== null)) {
      const next = this.take(coder.unsigned(name, count ?? 0));
      coder.noteText(next.length);
      return next;
    }
    const other = coder.text("text", text);
    this.skip(other);
    return other;
  }
}

const split = (text: string): string[] => (text === "" ? [] : text.split(" "));
