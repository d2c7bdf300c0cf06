/** A DNS server on loopback with configurable answers: over UDP, without EDNS or TCP. */
import { createSocket } from "node:dgram";

/** Addresses of a name; `hang`: no answer; `fail`: SERVFAIL. A name without an entry does not exist. */
export type Zone = Record<string, string[] | "hang" | "fail">;

export type DnsServer = AsyncDisposable & {
  /** As `OFFCUT_DNS_SERVERS` takes it. */
  address: string;
  /** The names that were asked for, in order, with the type: `A example.test`. */
  asked: string[];
};

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;
const SERVER_FAILURE = 2;

/** Starts it on a free port. `otherwise` is for names that the zone does not have. */
export async function dnsServer(zone: Zone, otherwise?: "hang"): Promise<DnsServer> {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = questionOf(query);
    asked.push(`${type === TYPE_A ? "A" : type === TYPE_AAAA ? "AAAA" : type} ${name}`);
    const entry = Object.hasOwn(zone, name) ? zone[name]! : otherwise;
    if (entry === "hang") return;
    const code = entry === undefined ? NAME_ERROR : entry === "fail" ? SERVER_FAILURE : 0;
    const addresses = Array.isArray(entry) ? entry.filter((a) => a.includes(":") === (type === TYPE_AAAA)) : [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) => recordOf(address, type));
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", () => resolve()));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      socket.close();
    },
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** The record of the question's name (a pointer to offset 12), valid for a minute. */
function recordOf(address: string, type: number): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split(".").map(Number)) : groupsOf(address);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(60, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}

function groupsOf(address: string): Buffer {
  const [left = "", right = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const missing = 8 - groups(left).length - groups(right).length;
  const data = Buffer.alloc(16);
  for (const [index, group] of [...groups(left), ...Array<number>(missing).fill(0), ...groups(right)].entries())
    data.writeUInt16BE(group, index * 2);
  return data;
}
