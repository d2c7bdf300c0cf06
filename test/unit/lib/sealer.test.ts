import { describe, expect, test } from "bun:test";
import { createSealer } from "../../../src/lib/sealer";

const SECRET = "a".repeat(43);
const sealer = createSealer(SECRET);

describe("a sealed text", () => {
  test.each(["", "JBSWY3DPEHPK3PXP", "Zoë 🎬".repeat(1000)])("opens in its place", (text) => {
    const sealed = sealer.seal(text, "users/1");
    expect(createSealer(SECRET).open(sealed, "users/1")).toBe(text);
    expect(sealed).toMatch(/^1\.[\w-]+$/);
  });

  test("differs each time", () => {
    expect(sealer.seal("text", "users/1")).not.toBe(sealer.seal("text", "users/1"));
  });

  test("opens nowhere else, and with no other key", () => {
    const sealed = sealer.seal("text", "users/1");
    expect(sealer.open(sealed, "users/2")).toBeNull();
    expect(createSealer("b".repeat(43)).open(sealed, "users/1")).toBeNull();
  });

  test("does not open when any of its bytes was changed or removed", () => {
    const sealed = sealer.seal("text", "users/1");
    const bytes = Buffer.from(sealed.slice(2), "base64url");
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      expect(sealer.open(`1.${changed.toString("base64url")}`, "users/1")).toBeNull();
      expect(sealer.open(`1.${bytes.subarray(0, index).toString("base64url")}`, "users/1")).toBeNull();
    }
  });

  test.each(["", "1.", "2.AAAA", "text", "1.!!!!"])("is not %p", (text) => {
    expect(sealer.open(text, "users/1")).toBeNull();
  });
});
