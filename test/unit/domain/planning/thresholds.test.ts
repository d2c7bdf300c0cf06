import { expect, test } from "bun:test";
import { join } from "node:path";
import { STAGE_THRESHOLDS } from "../../../../src/domain/planning/thresholds";
import { fromSeconds } from "../../../../src/domain/time";

const README = join(import.meta.dir, "../../../../src/domain/planning/README.md");
const [START, END] = ["<!-- thresholds -->\n", "<!-- end of thresholds -->"];

const rows = STAGE_THRESHOLDS.flatMap(({ stage, thresholds }) =>
  Object.entries(thresholds).map(
    ([name, [value, unit, separates, recordings = ""]]) =>
      `| \`${stage}.${name}\` | ${Number(value.toFixed(3))} ${unit} | ${separates} | ${recordings} |`,
  ),
);
const table = `| threshold | value | separates | recordings |\n|---|---|---|---|\n${rows.join("\n")}\n`;

test("the README has the table of thresholds", async () => {
  const text = await Bun.file(README).text();
  const [from, to] = [text.indexOf(START) + START.length, text.indexOf(END)];
  expect(from).toBeGreaterThan(START.length);
  if (process.env.OFFCUT_UPDATE_SNAPSHOT) await Bun.write(README, text.slice(0, from) + table + text.slice(to));
  else expect(text.slice(from, to)).toBe(table);
});

test("every threshold has a value, says what it separates, and is read in ticks if it is a duration", () => {
  for (const { thresholds, values } of STAGE_THRESHOLDS) {
    for (const [name, [value, unit, separates]] of Object.entries(thresholds)) {
      expect(separates.length).toBeGreaterThan(5);
      expect(values[name]).toBe(unit === "s" ? fromSeconds(value) : value);
    }
  }
});
