import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createLimitedResolver, createResolver } from "../../../src/outbound/dns";
import { type DnsServer, dnsServer, type Zone } from "../../dns-server";
import { temporaryFolder } from "../../temporary-folder";

type World = AsyncDisposable & {
  server: DnsServer;
  resolve(host: string): Promise<string[]>;
  hosts(text: string): Promise<unknown>;
};

async function world(zone: Zone, files: { hosts?: string; resolvConf?: string } = {}): Promise<World> {
  const folder = await temporaryFolder();
  const server = await dnsServer(zone);
  const [hostsFile, resolvConf] = [join(folder.path, "hosts"), join(folder.path, "resolv.conf")];
  if (files.hosts !== undefined) await Bun.write(hostsFile, files.hosts);
  await Bun.write(resolvConf, files.resolvConf ?? "");
  const resolve = createResolver({ servers: [server.address], hostsFile, resolvConf });
  return {
    server,
    resolve: async (host) => (await resolve(host)).map(({ address }) => address),
    hosts: (text) => Bun.write(hostsFile, text),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe("DNS", () => {
  test("is queried for IPv4 and IPv6 addresses, and IPv4 comes first", async () => {
    await using w = await world({ "hooks.example.test": ["2001:db8::7", "192.0.2.1", "192.0.2.2"] });
    expect(await w.resolve("Hooks.Example.TEST")).toEqual(["192.0.2.1", "192.0.2.2", "2001:db8::7"]);
    expect(w.server.asked.toSorted()).toEqual(["A hooks.example.test", "AAAA hooks.example.test"]);
  });

  test.each<[string, Zone, string[]]>([
    ["only IPv6", { "a.test": ["2001:db8::1"] }, ["2001:db8::1"]],
    ["a dot at its end", { "a.test": ["192.0.2.1"] }, ["192.0.2.1"]],
    ["no address", { "a.test": [] }, []],
    ["no entry", {}, []],
  ])("resolves a name with %s", async (what, zone, expected) => {
    await using w = await world(zone);
    expect(await w.resolve(what.includes("dot") ? "a.test." : "a.test")).toEqual(expected);
  });

  test.each([
    ["never answers", "hang"],
    ["fails", "fail"],
  ] as const)("that %s refuses the URL within the time limit", async (_, answer) => {
    await using w = await world({ "a.test": answer });
    const started = performance.now();
    await expect(w.resolve("a.test")).rejects.toThrow("could not be resolved");
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test("refuses a name with very many addresses", async () => {
    await using w = await world({ "a.test": Array.from({ length: 80 }, (_, n) => `192.0.2.${n}`) });
    await expect(w.resolve("a.test")).rejects.toThrow("more than 64 addresses");
  });

  test.each(["a..test", "-", `${"a".repeat(64)}.test`, "xn--", "a b", "é.test"])(
    "has no record of %p",
    async (host) => {
      await using w = await world({});
      expect(await w.resolve(host)).toEqual([]);
    },
  );
});

describe("the system files", () => {
  test("/etc/hosts comes first, and is read again after a change", async () => {
    const hosts = "# machines\n192.0.2.9 NAS nas.lan # shelf\n2001:db8::9\tnas\nnonsense nas\n";
    await using w = await world({ nas: ["192.0.2.1"] }, { hosts });
    expect(await w.resolve("nas")).toEqual(["192.0.2.9", "2001:db8::9"]);
    expect(await w.resolve("NAS.lan.")).toEqual(["192.0.2.9"]);
    expect(w.server.asked).toEqual([]);
    await w.hosts("192.0.2.10 nas.lan\n");
    expect(await w.resolve("nas.lan")).toEqual(["192.0.2.10"]);
    expect(await w.resolve("nas")).toEqual(["192.0.2.1"]);
  });

  test("localhost is always this machine", async () => {
    await using w = await world({ localhost: ["192.0.2.1"] }, { hosts: "192.0.2.1 localhost" });
    for (const name of ["localhost", "LOCALHOST.", "hooks.localhost"])
      expect(await w.resolve(name)).toEqual(["127.0.0.1", "::1"]);
    expect(w.server.asked).toEqual([]);
  });

  test.each<[string, string, string[]]>([
    ["nas", "search one.test two.test\n", ["nas.one.test", "nas.two.test", "nas"]],
    ["nas", "domain lan.\n", ["nas.lan", "nas"]],
    ["nas.", "search one.test\n", ["nas"]],
    ["nas.local", "search one.test\n", ["nas.local"]],
    ["a.b", "search one.test\noptions rotate ndots:2\n", ["a.b.one.test", "a.b"]],
    ["nas", "; comment\nnameserver 192.0.2.53\n", ["nas"]],
  ])("%s with %j is queried as %j", async (host, resolvConf, expected) => {
    await using w = await world({}, { resolvConf });
    expect(await w.resolve(host)).toEqual([]);
    expect(w.server.asked.filter((one) => one.startsWith("A ")).map((one) => one.slice(2))).toEqual(expected);
  });
});

describe("the limits", () => {
  /** Lookups that the test ends, by host. */
  function heldLookups() {
    const held = new Map<string, () => void>();
    const resolverFor = createLimitedResolver((host) => {
      const { promise, resolve } = Promise.withResolvers<[]>();
      held.set(host, () => resolve([]));
      return promise;
    });
    return { held, resolverFor };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test("are 4 lookups of a user at a time, 8 waiting, and then 429", async () => {
    const { held, resolverFor } = heldLookups();
    const all = Array.from({ length: 13 }, (_, n) => resolverFor("anna")(`a${n}`));
    await expect(all[12]!).rejects.toMatchObject({ code: "rate_limited", details: { retryAfterSeconds: 5 } });
    await turn();
    expect([...held.keys()]).toEqual(["a0", "a1", "a2", "a3"]);
    held.get("a1")!();
    await turn();
    expect(held.has("a4")).toBe(true);
    for (let n = 0; n < 12; n++) {
      held.get(`a${n}`)!();
      await turn();
    }
    await Promise.all(all.slice(0, 12));
  });

  test("are 16 lookups of all users, and waiting users take turns", async () => {
    const { held, resolverFor } = heldLookups();
    const all = ["a", "b", "c", "d"].flatMap((user) =>
      Array.from({ length: 8 }, (_, n) => resolverFor(user)(`${user}${n}`)),
    );
    all.push(resolverFor("e")("e0"));
    await turn();
    expect(held.size).toBe(16);
    // Five users wait: each of the next five places is another user's.
    const begun: string[] = [];
    for (const done of ["a0", "b0", "c0", "d0", "a1"]) {
      const before = new Set(held.keys());
      held.get(done)!();
      await turn();
      begun.push(...[...held.keys()].filter((host) => !before.has(host)));
    }
    expect(begun.map((host) => host[0]).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
    for (let round = 0; round < 40; round++) {
      for (const end of held.values()) end();
      await turn();
    }
    await Promise.all(all);
  });

  test("of all users together lead to 503", async () => {
    const { held, resolverFor } = heldLookups();
    const all = Array.from({ length: 36 }, (_, n) =>
      Array.from({ length: 4 }, (_, m) => resolverFor(`user${n}`)(`${n}.${m}`)),
    ).flat();
    expect(all).toHaveLength(16 + 128);
    await expect(resolverFor("late")("late")).rejects.toMatchObject({ code: "upstream_unavailable" });
    for (let round = 0; round < 200; round++) {
      for (const end of held.values()) end();
      await turn();
    }
    await Promise.all(all);
  });
});
