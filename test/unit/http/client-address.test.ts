import { expect, test } from "bun:test";
import { findClientAddress } from "../../../src/http/client";

const proxies = ["10.0.0.1", "10.0.0.2"];

test.each<[string, string | null, string | null, string | null]>([
  ["no proxy, no header", "192.168.0.9", null, "192.168.0.9"],
  ["the header of an untrusted peer is ignored", "192.168.0.9", "1.2.3.4", "192.168.0.9"],
  ["the header of a trusted proxy is used", "10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ["addresses that the client itself sent are ignored", "10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"],
  ["a port beside the address", "10.0.0.1", "1.2.3.4:5678", "1.2.3.4"],
  ["a port beside an IPv6 address", "10.0.0.1", "[2001:db8::1]:5678", "2001:db8::1"],
  ["an IPv6 address", "10.0.0.1", "2001:db8::1", "2001:db8::1"],
  ["several proxies", "10.0.0.1", "1.2.3.4, 10.0.0.2", "1.2.3.4"],
  ["a request of a proxy", "10.0.0.1", "10.0.0.2", "10.0.0.2"],
  ["a proxy without the header", "10.0.0.1", null, "10.0.0.1"],
  ["IPv4 over IPv6", "::ffff:10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ["a socket without an address", null, "1.2.3.4", null],
])("%s", (_what, peer, header, expected) => {
  expect(findClientAddress(peer, header, proxies)).toBe(expected);
});
