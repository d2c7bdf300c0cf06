import { beforeEach, expect, test } from "bun:test";
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

test("the usual value is not stored, so that a later version may change it", () => {
  signIn("ada");
  const letters = createSetting<boolean>("letters", true);
  letters.value = false;
  expect(Object.keys(localStorage)).toContain("offcut.letters.ada");
  letters.value = true;
  expect(Object.keys(localStorage)).not.toContain("offcut.letters.ada");
});

test.each(["{", "null", '"wide"', "true", "[]"])("a stored value of another kind is ignored: %s", (text) => {
  signIn("ada");
  localStorage.setItem("offcut.width.ada", text);
  expect(createSetting<number | null>("width", null).value).toBeNull();
});
