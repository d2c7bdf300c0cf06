import { beforeEach, expect, test } from "bun:test";
import type { Signal } from "@preact/signals";
import type { SessionState } from "../../../web/app/session";
import { definePageGlobal, TestStorage, usePageGlobals } from "./page-globals";

usePageGlobals();
const { createSetting } = await import("../../../web/app/settings");
const { session } = await import("../../../web/app/session");

beforeEach(() => {
  definePageGlobal("localStorage", new TestStorage());
  session.value = { kind: "signed-out" };
});

const signIn = (id: string) => {
  session.value = { kind: "signed-in", me: { id } } as SessionState;
};

test("each user of a browser has their own value, which outlives the page", () => {
  const width = createSetting<number | null>("width", null);
  signIn("ada");
  width.value = 420;
  signIn("bruno");
  expect(width.value).toBeNull();
  width.value = 500;
  signIn("ada");
  expect(width.value).toBe(420);
  expect(createSetting<number | null>("width", null).value).toBe(420);
});

test("without storage, a value stays until another user signs in", () => {
  localStorage.getItem = () => {
    throw new Error("blocked");
  };
  signIn("ada");
  const width = createSetting<number | null>("width", null);
  width.value = 420;
  // Reading the account again.
  signIn("ada");
  expect(width.value).toBe(420);
  signIn("bruno");
  expect(width.value).toBeNull();
});

test("letter keys that an earlier version has turned off stay off for all users, until one turns them on", async () => {
  localStorage.setItem("offcut.letter-keys", "off");
  // Another test file of the process may have loaded the module.
  const module: string = "../../../web/app/actions?again";
  const { letterKeys } = (await import(module)) as { letterKeys: Signal<boolean> };
  signIn("ada");
  expect(letterKeys.value).toBe(false);
  letterKeys.value = true;
  signIn("bruno");
  expect(letterKeys.value).toBe(false);
  signIn("ada");
  expect(letterKeys.value).toBe(true);
});

test("the usual value is not stored, so that a later version may change it", () => {
  signIn("ada");
  const letters = createSetting<boolean>("letters", true);
  letters.value = false;
  expect(Object.keys(localStorage)).toContain("offcut.letters.ada");
  letters.value = true;
  expect(Object.keys(localStorage)).not.toContain("offcut.letters.ada");
});

test.each(["{", '"wide"', "true", "[]"])("a stored value of another kind is ignored: %s", (text) => {
  signIn("ada");
  localStorage.setItem("offcut.width.ada", text);
  expect(createSetting<number | null>("width", null).value).toBeNull();
});
