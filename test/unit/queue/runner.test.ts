/** The runner of a server without workers, and what it asks about other places. */
import { describe, expect, test } from "bun:test";
import type { OtherPlaces } from "../../../src/queue/runner";
import { openRunner } from "./open-runner";
import { describeRunner } from "./runner-contract";

describeRunner("a runner whose jobs run on this machine", false, async (options) => openRunner(options));

describe("with other places", () => {
  /** Places that can do all steps but these, and where only steps with these names are on another machine. */
  function places({ impossible = [], elsewhere = [] }: { impossible?: string[]; elsewhere?: string[] }) {
    const unrunnable = new Set<string>();
    const others: OtherPlaces = {
      canRun: async ({ stepId }) => {
        if (!impossible.includes(stepId)) return true;
        unrunnable.add(stepId);
        return false;
      },
      listUnrunnable: () => [...unrunnable],
      isAloneElsewhere: ({ stepId }) => elsewhere.includes(stepId),
      isElsewhere: (stepId) => elsewhere.includes(stepId),
    };
    return { others, unrunnable };
  }

  test("a step that no place can do delays no other, and starts when a place can", async () => {
    const impossible = ["russian", "suspect"];
    const { others, unrunnable } = places({ impossible });
    await using b = openRunner({ otherPlaces: others, slots: 2 });
    b.source.add("russian");
    b.source.add("suspect", { runsAlone: true });
    b.source.add("english");
    b.runner.start();
    expect((await b.work.nth(1)).job.stepId).toBe("english");
    impossible.length = 0;
    unrunnable.clear();
    b.runner.wake();
    await b.work.nth(1);
    b.work.started[0]!.finish();
    expect((await b.work.nth(2)).job.stepId).toBe("suspect");
  });

  test("a job that runs alone elsewhere stops nothing here, and one that runs alone here stops nothing elsewhere", async () => {
    await using b = openRunner({ otherPlaces: places({ elsewhere: ["far", "far suspect"] }).others, slots: 3 });
    b.source.add("far");
    b.source.add("far suspect", { runsAlone: true });
    b.runner.start();
    await b.work.nth(2);
    b.source.add("near suspect", { runsAlone: true });
    b.runner.wake();
    expect((await b.work.nth(3)).job.stepId).toBe("near suspect");
    expect(b.work.started.map((running) => running.context.shouldYield())).toEqual([false, false, false]);
  });
});
