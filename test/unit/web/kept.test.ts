import { afterEach, beforeEach, expect, test } from "bun:test";
import { createKept, dropOld } from "../../../web/app/kept";
import { type Me, session } from "../../../web/app/session";
import { createScriptForm } from "../../../web/pages/asset/script";
import { definePageGlobal, TestStorage, usePageGlobals } from "./page-globals";

usePageGlobals();
beforeEach(() => definePageGlobal("localStorage", new TestStorage()));
afterEach(() => {
  session.value = { kind: "unknown" };
});

const signIn = (id: string) => {
  session.value = { kind: "signed-in", me: { id } as Me };
};
const listStored = () => Object.keys(localStorage).filter((key) => key.startsWith("offcut."));
const DAY_MS = 24 * 3_600_000;
const texts = createKept("script", (value) => typeof value === "string");
const drafts = createKept("draft", (value) => typeof value === "string");
const lists = createKept("review", (value) => Array.isArray(value));

test("unsent work is kept for its author, even if others use the same browser", () => {
  signIn("anna");
  lists.write("cut", [["item", "removed"]]);
  createScriptForm("asset").setScript("Not for Ben");
  signIn("ben");
  expect([lists.read("cut"), lists.list("")]).toEqual([null, []]);
  expect(createScriptForm("asset").script.value).toBe("");
  lists.clear("cut");
  signIn("anna");
  expect(lists.read("cut")).toEqual([["item", "removed"]]);
  expect(createScriptForm("asset").script.value).toBe("Not for Ben");
});

test("a script is no longer kept once a cut or plan has it", () => {
  signIn("anna");
  const form = createScriptForm("asset");
  form.setScript("Alpha.");
  form.clearSaved("An earlier script.");
  expect(createScriptForm("asset").hasOwnScript.value).toBe(true);
  form.clearSaved("Alpha.");
  expect(listStored()).toEqual([]);
  expect([form.script.value, form.hasOwnScript.value]).toEqual(["Alpha.", false]);
  form.setScript("Alpha, again.");
  const other = createScriptForm("asset");
  expect(other.script.value).toBe("Alpha, again.");
  other.setScript("Beta.");
  form.clearSaved("Alpha, again.");
  expect(createScriptForm("asset").script.value).toBe("Beta.");
});

test("values are listed newest first, and old drafts, damaged and unowned values are removed", () => {
  signIn("anna");
  const now = Date.now();
  texts.write("cut.a", "older", now - 1_000);
  texts.write("cut.b", "newer", now);
  texts.write("cut.c", "last month", now - 31 * DAY_MS);
  texts.write("other.a", "of another cut");
  drafts.write("cut.a", "a draft of last month", now - 31 * DAY_MS);
  drafts.write("cut.b", "a newer draft", now - 29 * DAY_MS);
  localStorage.setItem("offcut.review.anna.cut.d", "not JSON");
  localStorage.setItem("offcut.script.anna.cut.e", JSON.stringify({ at: now, value: 5 }));
  localStorage.setItem("offcut.review.cut", "[]");
  localStorage.setItem("offcut.pacing.cut", "{}");
  localStorage.setItem("offcut.review-decided", "3");
  expect(texts.list("cut.").map(({ id, value }) => [id, value])).toEqual([
    ["cut.b", "newer"],
    ["cut.a", "older"],
    ["cut.c", "last month"],
  ]);
  dropOld();
  expect(texts.list("cut.").map(({ value }) => value)).toEqual(["newer", "older", "last month"]);
  expect(listStored().sort()).toEqual([
    "offcut.draft.anna.cut.b",
    "offcut.review-decided",
    "offcut.script.anna.cut.a",
    "offcut.script.anna.cut.b",
    "offcut.script.anna.cut.c",
    "offcut.script.anna.cut.e",
    "offcut.script.anna.other.a",
  ]);
});

test("unsent work of earlier versions is read and not removed", () => {
  signIn("anna");
  const drafts = createKept("draft", (value) => typeof value === "object");
  const now = Date.now();
  const draft = { segments: [[0, 2]], texts: [] };
  localStorage.setItem("offcut.draft.anna.cut.tab", JSON.stringify({ ...draft, at: now }));
  localStorage.setItem("offcut.draft.anna.old.tab", JSON.stringify({ ...draft, at: now - 31 * DAY_MS }));
  localStorage.setItem("offcut.script.anna.asset", "Alpha bravo.");
  localStorage.setItem("offcut.script.anna.digits", "42");
  dropOld();
  expect(drafts.list("")).toEqual([expect.objectContaining({ id: "cut.tab", value: draft })]);
  expect(["asset", "digits"].map((id) => createScriptForm(id).script.value)).toEqual(["Alpha bravo.", "42"]);
});

test("a browser without room keeps the earlier value", () => {
  signIn("anna");
  texts.write("cut", "first");
  localStorage.setItem = () => {
    throw new Error("full");
  };
  expect(texts.write("cut", "second")).toBe(false);
  expect(texts.read("cut")).toBe("first");
});
