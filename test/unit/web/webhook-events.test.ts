/** A server where nothing costs credits offers no event about credits. */
import { afterEach, expect, test } from "bun:test";
import { isBilled } from "../../../web/app/session";
import { ALL_EVENTS, formatEvents, listEventGroups, listSentEvents } from "../../../web/pages/webhooks/webhook-texts";

const before = isBilled.value;
afterEach(() => {
  isBilled.value = before;
});

const listShown = () => listEventGroups().flatMap(({ events }) => events.map(({ type }) => type));
const others = ALL_EVENTS.filter((type) => type !== "asset.pending_payment");

test("all events are listed where recordings cost credits", () => {
  isBilled.value = true;
  expect([listShown(), listSentEvents()]).toEqual([ALL_EVENTS, ALL_EVENTS]);
  expect([formatEvents(ALL_EVENTS), formatEvents(others)]).toEqual(["All events", others.join(", ")]);
});

test("the event about missing credits is neither listed nor named where nothing costs any", () => {
  isBilled.value = false;
  expect([listShown(), listSentEvents()]).toEqual([others, others]);
  expect([formatEvents(ALL_EVENTS), formatEvents(others)]).toEqual(["All events", "All events"]);
  expect(formatEvents(["asset.ready", "asset.pending_payment"])).toBe("asset.ready");
  expect(formatEvents(["asset.pending_payment"])).toBe("None");
});
