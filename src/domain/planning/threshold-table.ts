/** Thresholds as data: each with its unit, and with what it separates. */
import { fromSeconds } from "../time";

/** A value in its unit, what it separates, and recordings of the cut-quality benchmark that need it. */
export type Threshold = readonly [value: number, unit: string, separates: string, recordings?: string];

/** Returns the values of thresholds for the code: seconds as ticks, others as they are. */
export const toValues = <Key extends string>(
  thresholds: Readonly<Record<Key, Threshold>>,
): Readonly<Record<Key, number>> =>
  Object.fromEntries(
    Object.entries<Threshold>(thresholds).map(([key, [value, unit]]) => [
      key,
      unit === "s" ? fromSeconds(value) : value,
    ]),
  ) as Record<Key, number>;
