import { expect, test } from "bun:test";
import { createProgress } from "../../../src/cli/progress";

function output(isTTY: boolean) {
  const texts: string[] = [];
  return { isTTY, columns: 80, texts, write: (text: string) => texts.push(text) };
}

test("without a terminal each stage is one line", () => {
  const to = output(false);
  const progress = createProgress(to);
  for (const share of [0, 0.5, 1]) progress.show("talk.mp4", "listening", share);
  progress.show("talk.mp4", "rendering", 0);
  progress.clear();
  expect(to.texts).toEqual(["talk.mp4: listening\n", "talk.mp4: rendering\n"]);
});

test("on a terminal the bar is redrawn at a limited rate, fits the width, and is removed", () => {
  const to = output(true);
  let now = 0;
  const progress = createProgress(to, () => now);
  progress.show(`${"long".repeat(40)}.mp4`, "listening", 0);
  progress.show(`${"long".repeat(40)}.mp4`, "listening", 0.1);
  now = 500;
  progress.show(`${"long".repeat(40)}.mp4`, "listening", 0.5);
  progress.clear();
  progress.clear();
  expect(to.texts).toHaveLength(3);
  expect(to.texts[1]).toContain(`${"█".repeat(15)}${"░".repeat(15)}  50%`);
  for (const text of to.texts) expect(text.replace("\r\u001b[K", "").length).toBeLessThan(80);
  expect(to.texts[2]).toBe("\r\u001b[K");
});
