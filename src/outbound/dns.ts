/**
 * Resolves host names with c-ares on the event loop. The server never calls the system's `getaddrinfo`, which runs on
 * the thread pool that also reads and writes files: a few slow names would stop every upload.
 */
import { Resolver } from "node:dns/promises";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { queueFull } from "../domain/errors";
import { createFairSemaphore } from "../lib/fair-semaphore";
import { type Address, RefusedUrlError, type Resolve } from "./addresses";

const MAX_LOOKUP_MS = 2_000;
/** Timeout of the first query to a server. c-ares increases it for retries. */
const FIRST_QUERY_TIMEOUT_MS = 500;
const MAX_TRIES = 3;
/** More addresses than any receiver needs. Each one is checked. */
const MAX_ADDRESSES = 64;

const LIMITS = { maxRunning: 16, maxRunningPerKey: 4, maxWaiting: 128, maxWaitingPerKey: 8, maxWaitMs: 5_000 };
const RETRY_AFTER_SECONDS = 5;

const LOOPBACK: Address[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

export type LookupOptions = {
  /** DNS servers as `address` or `address:port`. If empty, those of `/etc/resolv.conf` are used. */
  servers?: string[];
  hostsFile?: string;
  resolvConf?: string;
};

/** Returns a resolver without limits on concurrent lookups. Each lookup ends within 2 s. */
export function createResolver({
  servers = [],
  hostsFile = "/etc/hosts",
  resolvConf = "/etc/resolv.conf",
}: LookupOptions = {}): Resolve {
  const readHosts = createFileReader(hostsFile, parseHostsFile);
  const readSearchList = createFileReader(resolvConf, parseSearchList);
  return async (host) => {
    const name = host.toLowerCase();
    const absolute = name.replace(/\.$/, "");
    // RFC 6761: localhost names are never sent to DNS.
    if (absolute === "localhost" || absolute.endsWith(".localhost")) return LOOPBACK;
    const listed = (await readHosts()).get(absolute);
    if (listed) return sortByFamily(listed);
    return queryServers(listCandidateNames(name, await readSearchList()), servers);
  };
}

async function queryServers(names: string[], servers: string[]): Promise<Address[]> {
  // One resolver per lookup: cancelling ends only this lookup, and changes of /etc/resolv.conf take effect.
  const resolver = new Resolver({ timeout: FIRST_QUERY_TIMEOUT_MS, tries: MAX_TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  let hasTimedOut = false;
  const timer = setTimeout(() => {
    hasTimedOut = true;
    resolver.cancel();
  }, MAX_LOOKUP_MS);
  try {
    for (const name of names) {
      const found = await queryName(name, resolver);
      if (found.length > 0) return found;
      if (hasTimedOut) break;
    }
  } finally {
    clearTimeout(timer);
  }
  if (hasTimedOut) throw lookupFailed();
  return [];
}

/** Error codes that mean a name has no address. */
const NO_ADDRESS = ["ENOTFOUND", "ENODATA", "EBADNAME"];

async function queryName(name: string, resolver: Resolver): Promise<Address[]> {
  const [a, aaaa] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found: Address[] = [
    ...(a.status === "fulfilled" ? a.value.map((address) => ({ address, family: 4 as const })) : []),
    ...(aaaa.status === "fulfilled" ? aaaa.value.map((address) => ({ address, family: 6 as const })) : []),
  ];
  if (found.length > MAX_ADDRESSES)
    throw new RefusedUrlError(`has a host name with more than ${MAX_ADDRESSES} addresses`);
  if (found.length > 0) return found;
  const codes = [a, aaaa].map((one) => (one.status === "rejected" ? (one.reason as NodeJS.ErrnoException).code : ""));
  if (!codes.every((code) => NO_ADDRESS.includes(code ?? ""))) throw lookupFailed();
  return [];
}

const lookupFailed = () =>
  new RefusedUrlError("has a host name that could not be resolved: no DNS server answered in time or without an error");

const sortByFamily = (addresses: Address[]): Address[] => addresses.toSorted((a, b) => a.family - b.family);

/**
 * Returns a function that returns a workspace's resolver. At most 4 lookups of a workspace and 16 of all workspaces run
 * at a time; the others wait in a queue that is fair between workspaces. Lookups throw `AppError` `rate_limited` if too
 * many of the workspace are waiting, and `upstream_unavailable` if too many of all workspaces are.
 */
export function createLimitedResolver(resolve: Resolve): (workspaceId: string) => Resolve {
  const semaphore = createFairSemaphore(LIMITS, (reason) =>
    queueFull("host names are being resolved", reason === "key", RETRY_AFTER_SECONDS),
  );
  return (workspaceId) => (host) => semaphore.run(workspaceId, () => resolve(host));
}

/** Addresses by host name in lower case. */
type HostsFile = Map<string, Address[]>;

/** Parses `/etc/hosts`. Lines that are not an address followed by names are ignored, as the C library does. */
function parseHostsFile(text: string): HostsFile {
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

type SearchList = { domains: string[]; ndots: number };

const MAX_SEARCH_DOMAINS = 6;
const MAX_NDOTS = 15;

/** Parses the search list of `/etc/resolv.conf`. The last `search` or `domain` line counts. */
function parseSearchList(text: string): SearchList {
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
function listCandidateNames(host: string, search: SearchList): string[] {
  if (host.endsWith(".")) return [host.slice(0, -1)];
  const dots = host.split(".").length - 1;
  const searched = search.domains.map((domain) => `${host}.${domain}`);
  return dots >= search.ndots ? [host] : [...searched, host];
}

/** Returns a reader for a small file that parses it again only after a change. A missing file counts as empty. */
function createFileReader<Parsed>(path: string, parse: (text: string) => Parsed): () => Promise<Parsed> {
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
