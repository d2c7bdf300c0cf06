import { expect, test } from "bun:test";
import { join } from "node:path";
import { REMOVAL_RULES, REVIEW_RULES, type Rule, reasonOf, reviewText } from "../../../../src/domain/planning/rules";

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
