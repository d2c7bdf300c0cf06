/**
 * The committed OpenAPI documents: the contract that was last accepted. Additions to a document must also be added to
 * its snapshot, so that nothing can be removed unnoticed later. It may lose something that `breaking-changes.json`
 * lists in the commit that updates the snapshot.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ComparedDocument, compareDocuments } from "./openapi-diff";
import type { Change } from "./openapi-schema-diff";

const UPDATE_COMMAND = "OFFCUT_UPDATE_SNAPSHOT=1 bun test test/contract/openapi-snapshots.test.ts";

/** The document of each family with its snapshot. */
export const SNAPSHOTS = [
  { document: "/openapi.json", file: "openapi-v1.json" },
  { document: "/api/v1/openapi.json", file: "openapi-api-v1.json" },
  { document: "/api-keys/openapi.json", file: "openapi-api-keys.json" },
  { document: "/oauth/openapi.json", file: "openapi-oauth.json" },
];

/** An entry of `breaking-changes.json`. `document` is its path on the server. */
export type AcceptedChange = { document: string; change: string; reason: string };

/** `before` is the version that clients rely on, null if the history is not at hand. */
type Versions = { before: ComparedDocument | null; snapshot: ComparedDocument; served: ComparedDocument };

export type Verdict = {
  changes: Change[];
  /** Reasons why the document cannot be accepted, with the remedies. */
  problems: string[];
  /** The entries that name a change which was made. */
  used: AcceptedChange[];
};

/** Compares the versions of a document with the changes that are listed for it. */
export function judgeDocument({ before, snapshot, served }: Versions, listed: AcceptedChange[]): Verdict {
  const changes = compareDocuments(before ?? snapshot, served);
  const breaking = changes.filter(({ kind }) => kind === "breaking").map(({ what }) => what);
  const used = before === null ? listed : listed.filter(({ change }) => breaking.includes(change));
  const isListed = (what: string) => listed.some(({ change }) => change === what);
  const isStale = compareDocuments(snapshot, served).some(
    ({ kind, what }) => kind === "additive" || !(isListed(what) || breaking.includes(what)),
  );
  const problems = breaking
    .filter((what) => !isListed(what))
    .map((what) => `breaking change that breaking-changes.json does not list: ${what}`);
  for (const { change } of listed) {
    if (!used.some((one) => one.change === change)) {
      problems.push(`breaking-changes.json lists a change that was not made: ${change}`);
    }
  }
  for (const { change, reason } of listed) {
    if (!reason.trim()) problems.push(`breaking-changes.json gives no reason: ${change}`);
  }
  if (isStale) problems.push(`snapshot is not up to date. Run ${UPDATE_COMMAND}`);
  return { changes, problems, used };
}

/** Runs git in a folder. Returns null if it fails, or if the folder is not in a repository. */
function readGit(folder: string, ...command: string[]): string | null {
  try {
    const { exitCode, stdout } = Bun.spawnSync(["git", ...command], { cwd: folder, stderr: "ignore" });
    return exitCode === 0 ? stdout.toString() : null;
  } catch {
    return null;
  }
}

/**
 * Returns the snapshot that the served document is judged against: the one of the last commit while there are changes,
 * otherwise the one before the last change, because its commit must list what it broke. Null without history, as in a
 * shallow clone.
 */
export function readEarlierSnapshot(folder: string, file: string, served: ComparedDocument): ComparedDocument | null {
  const committed = readGit(folder, "show", `HEAD:./${file}`);
  if (committed === null) return null;
  const head = JSON.parse(committed) as ComparedDocument;
  const isSame = readFileSync(join(folder, file), "utf8") === committed && compareDocuments(head, served).length === 0;
  if (!isSame) return head;
  const commit = readGit(folder, "log", "-1", "--format=%H", "--", file)?.trim();
  const earlier = commit ? readGit(folder, "show", `${commit}^:./${file}`) : null;
  return earlier === null ? null : (JSON.parse(earlier) as ComparedDocument);
}
