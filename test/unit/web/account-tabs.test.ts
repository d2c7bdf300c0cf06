import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Me, session } from "../../../web/app/session";

const NAMES = ["localStorage", "location", "fetch", "addEventListener", "removeEventListener"];
const before = new Map(NAMES.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));

let kept: Map<string, string>;
let reloads: number;
let events: EventTarget;
let stop: () => void;

beforeEach(async () => {
  kept = new Map();
  reloads = 0;
  events = new EventTarget();
  const fakes: Record<string, unknown> = {
    localStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => kept.set(key, text),
      removeItem: (key: string) => kept.delete(key),
    },
    location: { origin: "http://studio.test", href: "http://studio.test/", reload: () => reloads++ },
    fetch: async () => new Response("{}", { status: 401 }),
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
  };
  for (const [name, value] of Object.entries(fakes))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  // It reads the address of the page when it is imported.
  const { watchAccount } = await import("../../../web/app/load-session");
  stop = watchAccount();
});
afterEach(() => {
  stop();
  session.value = { kind: "unknown" };
  for (const [name, descriptor] of before) {
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else Reflect.deleteProperty(globalThis, name);
  }
});

function signIn(id: string): void {
  session.value = { kind: "signed-in", me: { id } as Me };
}

/** Simulates a change of the storage by another tab. */
function hear(newValue: string | null, key = "offcut.user"): void {
  events.dispatchEvent(Object.assign(new Event("storage"), { key, newValue }));
}

test("the tab publishes the signed-in user, and that no user is signed in", () => {
  signIn("anna");
  expect(kept.get("offcut.user")).toBe("anna");
  session.value = { kind: "signed-out" };
  expect(kept.has("offcut.user")).toBe(false);
});

test("a tab of somebody else is loaded again, one of the same user is not", () => {
  hear("anna");
  signIn("anna");
  hear("anna");
  hear("dark", "offcut.theme");
  expect(reloads).toBe(0);
  hear("ben");
  expect(reloads).toBe(1);
});

test("a sign-out in another tab is one in this tab", async () => {
  signIn("anna");
  const ended = new Promise<void>((resolve) => {
    session.subscribe(({ kind }) => kind === "signed-out" && resolve());
  });
  hear(null);
  await ended;
  expect(reloads).toBe(0);
});
