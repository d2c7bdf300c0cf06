import { afterEach, beforeEach, expect, test } from "bun:test";
import { session } from "../../../web/app/session";
import { createScriptForm } from "../../../web/pages/asset/script";

const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
beforeEach(() => {
  const kept = new Map<string, string>();
  const value = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
  };
  Object.defineProperty(globalThis, "localStorage", { value, configurable: true });
});
afterEach(() => {
  session.value = { kind: "unknown" };
  if (before) Object.defineProperty(globalThis, "localStorage", before);
  else Reflect.deleteProperty(globalThis, "localStorage");
});

function signIn(id: string): void {
  const profile = { email: `${id}@example.test`, first_name: null, last_name: null, role: "member" as const };
  const state = { email_verified_at: null, has_password: true, two_factor_enabled: false, deleted_at: null };
  session.value = { kind: "signed-in", me: { id, ...profile, ...state, created_at: "2026-01-01T00:00:00Z" } };
}

test("an unsent script is kept for its author, even if others use the same browser", () => {
  signIn("anna");
  createScriptForm("asset").setScript("Not for Ben");
  signIn("ben");
  expect(createScriptForm("asset").script.value).toBe("");
  signIn("anna");
  expect(createScriptForm("asset").script.value).toBe("Not for Ben");
});
