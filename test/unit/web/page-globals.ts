/**
 * Globals of a page for tests of dashboard modules without a browser. Import this file first if a test imports a module
 * that reads the page's address when it is loaded.
 */
import { afterAll, beforeAll } from "bun:test";

type Name = "document" | "fetch" | "localStorage" | "location" | "window";

export const definePageGlobal = (name: Name, value: unknown) =>
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

definePageGlobal("location", { origin: "http://editor.test" });

/** Keeps texts as a browser does. */
export class TestStorage {
  getItem = (key: string): string | null => (this as Record<string, unknown>)[key] as string | null;
  setItem = (key: string, text: string) => Object.assign(this, { [key]: text });
  removeItem = (key: string) => Reflect.deleteProperty(this, key);
}

/** Defines them for the tests of a file. Import modules that need them after that, within `beforeAll`. */
export function usePageGlobals(): void {
  const names: Name[] = ["document", "fetch", "localStorage"];
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  beforeAll(() => {
    definePageGlobal("localStorage", new TestStorage());
    // A hidden page does not wait for frames.
    definePageGlobal("document", { hidden: true });
  });
  afterAll(() => {
    for (const [index, name] of names.entries())
      if (before[index]) Object.defineProperty(globalThis, name, before[index]);
      else Reflect.deleteProperty(globalThis, name);
  });
}
