import { expect, test } from "bun:test";
import { join } from "node:path";
import { rateFinding } from "../../../../src/domain/planning/explain-rules";
import { REMOVAL_RULES, REVIEW_RULES, type Rule, reasonOf, reviewText } from "../../../../src/domain/planning/rules";
import { fromSeconds } from "../../../../src/domain/time";

const README = join(import.meta.dir, "../../../../src/domain/planning/README.md");

test("the README documents exactly the rules that there are", async () => {
  const rules = (await Bun.file(README).text()).split("## Thresholds")[0]!;
  const rows = rules.split("\n").filter((line) => /^\| `[a-z_]+\.[a-z_]+`/.test(line));
  const documented = rows.flatMap((row) => [...row.split("|")[1]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
  expect(documented.toSorted()).toEqual([...REMOVAL_RULES, ...REVIEW_RULES].toSorted());
});

test("every rule that removes has a reason, every other one a text for the editor", () => {
  const reasons = new Set<string>(["silence", "filler", "retake", "off_script", "noise", "manual"]);
  for (const rule of REMOVAL_RULES) expect(reasons).toContain(reasonOf(rule));
  for (const rule of REVIEW_RULES) expect(reviewText(rule).length).toBeGreaterThan(0);
  const names: Rule[] = [...REMOVAL_RULES, ...REVIEW_RULES];
  expect(new Set(names).size).toBe(names.length);
});

test("removals with weak evidence stay below the confidence at which editors skip them, 0.8", () => {
  const filler = (alignment: number) =>
    rateFinding({ rule: "filler.unwritten", scores: { alignment, otherAlignment: -1, confidence: null } });
  const take = (keptQuality: number) =>
    rateFinding({
      rule: "retake.within_take",
      scores: { line: "We hang a shelf.", quality: 0.5, keptQuality, keptAt: fromSeconds(1) },
    });
  const noise = (voicedShare: number) =>
    rateFinding({ rule: "noise.unvoiced", scores: { duration: fromSeconds(1), voicedShare } });
  expect([filler(-1.1), take(0.84), noise(0.18)].filter((confidence) => confidence >= 0.8)).toEqual([]);
  expect([filler(-0.9), take(0.86), noise(0.15)].filter((confidence) => confidence < 0.8)).toEqual([]);
  expect([filler(-2.6), take(0), noise(0.3)].filter((confidence) => confidence <= 0.5)).toEqual([]);
});

test("a sound is surely not in a line that aligns better by 0.3 without it", () => {
  const scores = (alignmentWithout: number) => ({ alignment: -1, alignmentWithout, duration: fromSeconds(0.3) });
  const rate = (gain: number) => rateFinding({ rule: "filler.within_line", scores: scores(gain - 1) });
  expect([rate(0.29) < 0.99, rate(0.31) < 0.99]).toEqual([true, false]);
});
