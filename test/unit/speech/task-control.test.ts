import { expect, test } from "bun:test";
import { createTaskControl } from "../../../src/speech/task-control";

test("parts that run concurrently report one pause and resume together", async () => {
  let pauses = 0;
  const control = createTaskControl(() => pauses++);
  let steps = 0;
  const part = async () => {
    for (let n = 0; n < 3; n++) {
      await control.check();
      steps++;
    }
  };
  control.pause();
  const parts = Promise.all([part(), part()]);
  await Bun.sleep(5);
  expect([pauses, steps]).toEqual([1, 0]);
  control.resume();
  control.pause();
  await Bun.sleep(5);
  const stepsBefore = steps;
  expect(pauses).toBe(2);
  expect(stepsBefore).toBeLessThan(6);
  control.resume();
  await parts;
  expect([pauses, steps]).toEqual([2, 6]);
});

test("all parts of a cancelled task stop", async () => {
  const control = createTaskControl(() => {});
  control.pause();
  const parts = Promise.allSettled([control.check(), control.check()]);
  control.cancel();
  expect((await parts).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
