import { beforeEach, expect, test } from "bun:test";
import { effect } from "@preact/signals";
import type { SessionState } from "../../../web/app/session";
import { definePageGlobal, TestStorage, usePageGlobals } from "./page-globals";

usePageGlobals();
const { MAX_PINS, pinnedIds, togglePin, unpin } = await import("../../../web/app/pins");
const { session } = await import("../../../web/app/session");
const { toasts } = await import("../../../web/app/toasts");

const signIn = (id: string) => {
  session.value = { kind: "signed-in", me: { id } } as SessionState;
};
const toId = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
/** Dispatches the event that a browser sends when another tab has stored a value. */
const changeElsewhere = (key: string, newValue: string) =>
  dispatchEvent(Object.assign(new Event("storage"), { key: `offcut.${key}`, newValue }));

beforeEach(() => {
  definePageGlobal("localStorage", new TestStorage());
  session.value = { kind: "signed-out" };
  toasts.value = [];
});

test("pins change with those of other tabs, and with nothing else that they store", () => {
  signIn("ada");
  let count = 0;
  const stop = effect(() => {
    pinnedIds.value;
    count++;
  });
  changeElsewhere("live.events", "{}");
  changeElsewhere("pinned.bruno.", toId(2));
  // Reading the account again.
  signIn("ada");
  expect(count).toBe(1);
  changeElsewhere("pinned.ada.", toId(1));
  expect([count, pinnedIds.value]).toEqual([2, [toId(1)]]);
  stop();
});

test("a full list refuses another project with a message, until one is unpinned", () => {
  signIn("ada");
  for (let n = 0; n <= MAX_PINS; n++) togglePin(toId(n));
  expect([pinnedIds.value.length, pinnedIds.value[0]]).toEqual([MAX_PINS, toId(0)]);
  expect(toasts.value.map(({ text }) => text)).toEqual(["You can pin up to 100 projects. Unpin one first."]);
  unpin(toId(0));
  togglePin(toId(MAX_PINS));
  expect([pinnedIds.value[0], pinnedIds.value.at(-1)]).toEqual([toId(1), toId(MAX_PINS)]);
});

test("stored texts that are no IDs are ignored", () => {
  localStorage.setItem("offcut.pinned.ada.", `x,,${toId(1)},../${toId(2)}`);
  signIn("ada");
  expect(pinnedIds.value).toEqual([toId(1)]);
});

test("without storage, pins stay while the page is open", () => {
  signIn("ada");
  localStorage.setItem = () => {
    throw new Error("blocked");
  };
  togglePin(toId(1));
  signIn("ada");
  expect(pinnedIds.value).toEqual([toId(1)]);
});
