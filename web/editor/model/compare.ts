/** Compares two cuts of one recording. Pure. */
import { compareKept } from "../../../src/domain/merge-edits";
import { type EditorPlan, listKept, type Range } from "./plan";

/** `only` says which of the two cuts keeps the range. */
export type Difference = Range & { only: "first" | "second" };

/** Returns the ranges that only one of two plans keeps, in order. */
export const comparePlans = (first: EditorPlan, second: EditorPlan): Difference[] =>
  compareKept(listKept(first), listKept(second)).map(({ start, end, isKept }) => ({
    start,
    end,
    only: isKept ? "second" : "first",
  }));
