import { describe, expect, test } from "bun:test";
import { type Address, checkedAddress, isAllowed, parseWebhookUrl, RefusedUrl } from "../../../src/outbound/addresses";

const strict = { allowLoopback: false, allowPrivate: false };
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
    ["not an address"],
  ])("%s", (address) => {
    expect(isAllowed(address, { allowLoopback: true, allowPrivate: true })).toBe(false);
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
  ])("%s by %s alone", (address, setting) => {
    const other = setting === "allowLoopback" ? "allowPrivate" : "allowLoopback";
    expect(isAllowed(address, { ...strict, [setting]: true })).toBe(true);
    expect(isAllowed(address, { ...strict, [other]: true })).toBe(false);
  });
});

test.each(["8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])("%s is open to all", (address) => {
  expect(isAllowed(address, strict)).toBe(true);
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
    expect(() => parseWebhookUrl(url)).toThrow(RefusedUrl);
  });
});

describe("hosts in disguise are read as what they are", () => {
  test.each([
    ["http://0x7f000001/"],
    ["http://2130706433/"],
    ["http://0177.0.0.1/"],
    ["http://127.1/"],
    ["http://[::1]/"],
    ["http://[::ffff:127.0.0.1]/"],
    ["http://[::ffff:7f00:1]/"],
    ["http://0xa9fea9fe/latest/meta-data"],
    ["http://10.0.0.1:8080/"],
  ])("%s", async (url) => {
    expect(checkedAddress(parseWebhookUrl(url), strict, resolvesTo())).rejects.toThrow(RefusedUrl);
  });
});

test("a name is refused when any of its addresses is", async () => {
  const url = parseWebhookUrl("https://hooks.example.com/");
  expect(checkedAddress(url, strict, resolvesTo("93.184.216.34", "127.0.0.1"))).rejects.toThrow(RefusedUrl);
  expect(await checkedAddress(url, strict, resolvesTo("93.184.216.34", "93.184.216.35"))).toEqual({
    address: "93.184.216.34",
    family: 4,
  });
});

test("a name that does not resolve is refused", async () => {
  const failing = () => Promise.reject(new Error("ENOTFOUND"));
  expect(checkedAddress(parseWebhookUrl("https://nowhere.example/"), strict, failing)).rejects.toThrow(
    "does not resolve",
  );
});
