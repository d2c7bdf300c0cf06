/** Parses `/etc/hosts` and the search list of `/etc/resolv.conf`. */
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import type { Address } from "./addresses";

/** Addresses by host name in lower case. */
export type HostsFile = Map<string, Address[]>;

/** Parses `/etc/hosts`. Lines that are not an address followed by names are ignored, as the C library does. */
export function parseHostsFile(text: string): HostsFile {
  const hosts: HostsFile = new Map();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = hosts.get(key) ?? [];
      hosts.set(key, [...known, { address, family: family === 6 ? 6 : 4 }]);
    }
  }
  return hosts;
}

export type SearchList = { domains: string[]; ndots: number };

const MAX_SEARCH_DOMAINS = 6;
const MAX_NDOTS = 15;

/** Parses the search list of `/etc/resolv.conf`. The last `search` or `domain` line counts. */
export function parseSearchList(text: string): SearchList {
  const list: SearchList = { domains: [], ndots: 1 };
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/);
    if (keyword === "search" || keyword === "domain") {
      list.domains = values
        .slice(0, MAX_SEARCH_DOMAINS)
        .map((domain) => domain.toLowerCase().replace(/\.$/, ""))
        .filter((domain) => domain !== "");
    }
    if (keyword !== "options") continue;
    const ndots = values.map((value) => /^ndots:(\d+)$/.exec(value)?.[1]).findLast((value) => value !== undefined);
    if (ndots !== undefined) list.ndots = Math.min(Number(ndots), MAX_NDOTS);
  }
  return list;
}

/** Returns the names to query, in order. A name with a trailing dot is queried unchanged. */
export function listCandidateNames(host: string, search: SearchList): string[] {
  if (host.endsWith(".")) return [host.slice(0, -1)];
  const dots = host.split(".").length - 1;
  const searched = search.domains.map((domain) => `${host}.${domain}`);
  return dots >= search.ndots ? [host] : [...searched, host];
}

/** Returns a reader for a small file that parses it again only after a change. A missing file counts as empty. */
export function createFileReader<Parsed>(path: string, parse: (text: string) => Parsed): () => Promise<Parsed> {
  let cached: { version: string; parsed: Parsed } | null = null;
  return async () => {
    const found = await stat(path, { bigint: true }).catch(() => null);
    const version = found ? `${found.mtimeNs} ${found.size} ${found.ino}` : "missing";
    if (cached?.version !== version) {
      const text = found ? await readFile(path, "utf8").catch(() => "") : "";
      cached = { version, parsed: parse(text) };
    }
    return cached.parsed;
  };
}
