/** The users who have a cut open: reports of changes, expiry and limits. */
import { expect, test } from "bun:test";
import type { LivePresence } from "../../../../src/work/live/feed";
import { createPresence } from "../../../../src/work/live/presence";
import { until } from "../../../until";

function open(presentMs = 30_000) {
  const reports: string[] = [];
  const live = {
    publishPresence: (workspaceId: string, { entity_id, users }: LivePresence) =>
      void reports.push(`${workspaceId} ${entity_id}: ${users.map(({ id }) => id).join(",")}`),
  };
  const presence = createPresence({ live, presentMs });
  return {
    reports,
    presence,
    enter: (cutId: string, id: string, name: string | null = null) =>
      presence.enter({ workspaceId: "w", cutId }, { id, name }).map((user) => user.id),
  };
}

test("changes are reported, repetitions are not", () => {
  const { presence, reports, enter } = open();
  expect(enter("c", "anna")).toEqual(["anna"]);
  expect(enter("c", "bruno")).toEqual(["anna", "bruno"]);
  enter("c", "anna");
  enter("d", "anna");
  presence.leave({ workspaceId: "w", cutId: "c" }, "bruno");
  presence.leave({ workspaceId: "w", cutId: "c" }, "bruno");
  enter("c", "anna", "Anna Berg");
  expect(reports).toEqual(["w c: anna", "w c: anna,bruno", "w d: anna", "w c: anna", "w c: anna"]);
  presence.stop();
});

test("a user who stops calling is gone after the time, and that is reported", async () => {
  const { presence, reports, enter } = open(20);
  enter("c", "anna");
  await until("the expiry", () => reports.includes("w c: "));
  expect(enter("c", "bruno")).toEqual(["bruno"]);
  presence.stop();
});

test("a user has at most 20 cuts open: the oldest is dropped", () => {
  const { presence, reports, enter } = open();
  for (let n = 0; n < 21; n++) enter(`c${n}`, "anna");
  expect(reports.at(-1)).toBe("w c0: ");
  expect(enter("c0", "bruno")).toEqual(["bruno"]);
  expect(enter("c1", "bruno")).toEqual(["anna", "bruno"]);
  presence.stop();
});
