/** Projects that are created for recordings. */
import { beforeAll, expect, test } from "bun:test";
import { definePageGlobal, usePageGlobals } from "./page-globals";

usePageGlobals();
let createProjectFor: typeof import("../../../web/upload/new-project").createProjectFor;
beforeAll(async () => {
  ({ createProjectFor } = await import("../../../web/upload/new-project"));
});

test("the check of files can be stopped only until a project is created for them", async () => {
  const happened: string[] = [];
  definePageGlobal("fetch", async ({ method }: Request) => {
    happened.push(method);
    return Response.json({ detail: "No.", code: "conflict" }, { status: 409 });
  });
  const { signal } = new AbortController();
  const check = { workspaceId: null, headers: {}, signal, end: () => void happened.push("end") };
  await createProjectFor([new File(["x"], "Interview.mp4")], check, null);
  expect(happened).toEqual(["end", "POST"]);
});
