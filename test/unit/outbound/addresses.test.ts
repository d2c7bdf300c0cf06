import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Address,
  isAllowedAddress,
  parseWebhookUrl,
  RefusedUrlError,
  resolveAllowedAddresses,
} from "../../../src/outbound/addresses";

const strict = { allowLoopback: false, allowPrivate: false };
const NO_AND_ALL = [strict, { allowLoopback: true, allowPrivate: true }];
const RISKY_IPV4: [number, number, number, number][] = [
  [127, 0, 0, 1],
  [10, 0, 0, 1],
  [192, 168, 1, 1],
  [169, 254, 169, 254],
  [100, 100, 100, 200],
  [203, 0, 113, 7],
  [255, 255, 255, 255],
];
const byte = () => fc.integer({ min: 0, max: 255 });
const resolvesTo =
  (...addresses: string[]) =>
  async (): Promise<Address[]> =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

describe("addresses that webhooks never reach", () => {
  test.each([
    ["0.0.0.0"],
    ["169.254.169.254"],
    ["169.254.0.1"],
    ["224.0.0.1"],
    ["255.255.255.255"],
    ["192.0.2.10"],
    ["::"],
    ["fe80::1"],
    ["fe80::1%eth0"],
    ["ff02::1"],
    ["fd00:ec2::254"],
    ["fd20:ce::254"],
    ["100.100.100.200"],
    ["168.63.129.16"],
    ["::ffff:169.254.169.254"],
    ["::ffff:a9fe:a9fe"],
    ["64:ff9b::a9fe:a9fe"],
    ["2002:a9fe:a9fe::1"],
    ["::169.254.169.254"],
    ["::ffff:0:169.254.169.254"],
    ["2606:4700::5efe:169.254.169.254"],
    ["2606:4700::200:5efe:a9fe:a9fe"],
    ["fe80::5efe:8.8.8.8"],
    ["2001:db8::5efe:8.8.8.8"],
    ["64:ff9b:1::1"],
    ["64:ff9b:1:ffff:ffff:ffff:808:808"],
    ["64:ff9b:0:0:0:1:808:808"],
    ["2001::1"],
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    ["2001:db8::1"],
    ["2001:db8:ffff::1"],
    ["2001:2::1"],
    ["2001:20::1"],
    ["3fff::1"],
    ["3fff:fff::1"],
    ["100::1"],
    ["1fff::1"],
    ["4000::1"],
    ["5f00::1"],
    ["fec0::1"],
    ["fbff::1"],
    ["fe00::1"],
    ["::2"],
    ["::1:0:0:1"],
    ["192.0.0.192"],
    ["192.88.99.1"],
    ["198.51.100.1"],
    ["203.0.113.1"],
    ["fd00:c1::a9fe:a9fe"],
    ["2606:4700::1%1"],
    ["127.1"],
    ["0x7f000001"],
    ["0177.0.0.1"],
    ["8.8.8.8 "],
    [""],
    ["not an address"],
  ])("%s", (address) => {
    expect(isAllowedAddress(address, { allowLoopback: true, allowPrivate: true })).toBe(false);
  });
});

describe("addresses that a setting allows", () => {
  test.each<[string, "allowLoopback" | "allowPrivate"]>([
    ["127.0.0.1", "allowLoopback"],
    ["127.255.0.9", "allowLoopback"],
    ["::1", "allowLoopback"],
    ["::ffff:127.0.0.1", "allowLoopback"],
    ["::ffff:7f00:1", "allowLoopback"],
    ["::127.0.0.1", "allowLoopback"],
    ["10.1.2.3", "allowPrivate"],
    ["172.31.255.255", "allowPrivate"],
    ["192.168.0.1", "allowPrivate"],
    ["100.64.0.1", "allowPrivate"],
    ["fd12::1", "allowPrivate"],
    ["::ffff:10.0.0.1", "allowPrivate"],
    ["::10.0.0.1", "allowPrivate"],
    ["64:ff9b::10.0.0.1", "allowPrivate"],
    ["2002:a00:1::1", "allowPrivate"],
    ["2002:7f00:1::1", "allowLoopback"],
    ["::ffff:0:127.0.0.1", "allowLoopback"],
    ["2606:4700::5efe:10.0.0.1", "allowPrivate"],
    ["fd12::5efe:8.8.8.8", "allowPrivate"],
  ])("%s by %s alone", (address, setting) => {
    const other = setting === "allowLoopback" ? "allowPrivate" : "allowLoopback";
    expect(isAllowedAddress(address, { ...strict, [setting]: true })).toBe(true);
    expect(isAllowedAddress(address, { ...strict, [other]: true })).toBe(false);
  });
});

test.each([
  "8.8.8.8",
  "172.32.0.1",
  "2606:4700::1111",
  "2400::1",
  "3ffe:ffff::1",
  "2001:200::1",
  "2001:db7::1",
  "::ffff:8.8.8.8",
  "::8.8.8.8",
  "64:ff9b::8.8.8.8",
  "2002:808:808::1",
  "2606:4700::5efe:8.8.8.8",
])("%s is always allowed", (address) => {
  expect(isAllowedAddress(address, strict)).toBe(true);
});

const rules = fc.record({ allowLoopback: fc.boolean(), allowPrivate: fc.boolean() });

test("an address that embeds an IPv4 address is allowed exactly when the IPv4 address is", () => {
  const hex = (a: number, b: number) => ((a << 8) | b).toString(16);
  fc.assert(
    fc.property(fc.tuple(byte(), byte(), byte(), byte()), rules, ([a, b, c, d], allowed) => {
      const inner = isAllowedAddress(`${a}.${b}.${c}.${d}`, allowed);
      const [high, low] = [hex(a, b), hex(c, d)];
      const embedding = [
        `::ffff:${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `2002:${high}:${low}::7`,
        `::ffff:0:${high}:${low}`,
      ];
      if (a > 0) embedding.push(`::${high}:${low}`, `2606:4700::5efe:${high}:${low}`);
      for (const address of embedding) expect([address, isAllowedAddress(address, allowed)]).toEqual([address, inner]);
    }),
    { examples: RISKY_IPV4.flatMap((ip) => NO_AND_ALL.map((allowed) => [ip, allowed] as const)).map((e) => [...e]) },
  );
});

test("outside 2000::/3 no address is allowed without a setting, unless it embeds a public IPv4 address", () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(groups, (parts) => {
      const first = parts[0]!;
      fc.pre(first >> 13 !== 1 && first !== 0 && first !== 0x64);
      expect(isAllowedAddress(parts.map((group) => group.toString(16)).join(":"), strict)).toBe(false);
    }),
  );
});

test("no string makes the check throw", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV4Extended(), fc.ipV6(), fc.webAuthority()), rules, (text, allowed) => {
      expect(isAllowedAddress(text, allowed)).toBeBoolean();
    }),
  );
});

describe("URLs that are refused", () => {
  test.each([
    ["ftp://example.com/"],
    ["file:///etc/passwd"],
    ["gopher://example.com/"],
    ["javascript:alert(1)"],
    ["https://user:pass@example.com/"],
    ["https://user@example.com/"],
    ["http://example.com:22/"],
    ["http://example.com:25/"],
    ["not a url"],
    ["https://"],
    [`https://example.com/${"a".repeat(2100)}`],
  ])("%s", (url) => {
    expect(() => parseWebhookUrl(url)).toThrow(RefusedUrlError);
  });
});

describe("obfuscated hosts are recognized", () => {
  test.each([
    ["http://0x7f000001/"],
    ["http://2130706433/"],
    ["http://0177.0.0.1/"],
    ["http://127.1/"],
    ["http://[::1]/"],
    ["http://[::ffff:127.0.0.1]/"],
    ["http://[::ffff:7f00:1]/"],
    ["http://0xa9fea9fe/latest/meta-data"],
    ["http://127.0.0.1./"],
    ["http://[::127.0.0.1]/"],
    ["http://[64:ff9b::7f00:1]/"],
    ["http://[2002:7f00:1::]/"],
    ["http://１２７.０.０.１/"],
    ["http://10.0.0.1:8080/"],
  ])("%s", async (url) => {
    await expect(resolveAllowedAddresses(parseWebhookUrl(url), strict, resolvesTo())).rejects.toThrow(RefusedUrlError);
  });
});

test("a name is refused when any of its addresses is", async () => {
  const url = parseWebhookUrl("https://hooks.example.com/");
  await expect(resolveAllowedAddresses(url, strict, resolvesTo("93.184.216.34", "127.0.0.1"))).rejects.toThrow(
    RefusedUrlError,
  );
  expect(await resolveAllowedAddresses(url, strict, resolvesTo("93.184.216.34", "93.184.216.35"))).toEqual([
    { address: "93.184.216.34", family: 4 },
    { address: "93.184.216.35", family: 4 },
  ]);
});

test("a name that does not resolve is refused", async () => {
  const failing = () => Promise.reject(new Error("ENOTFOUND"));
  await expect(resolveAllowedAddresses(parseWebhookUrl("https://nowhere.example/"), strict, failing)).rejects.toThrow(
    "does not resolve",
  );
});
