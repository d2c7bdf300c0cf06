/** Texts for accounts, and summaries of their content for confirmations. */

import type { Schemas } from "../../../app/api";
import { toList } from "../../../app/english";
import { formatBytes, formatCount } from "../../../app/format";
import { isBilled } from "../../../app/session";
import { Status } from "../../../ui/status";

export type AdminUser = Schemas["AdminUser"];

export const toFullName = ({ first_name, last_name }: Pick<AdminUser, "first_name" | "last_name">): string =>
  [first_name, last_name].filter(Boolean).join(" ");

/** The state of an account. */
export function UserStatus({ user }: { user: AdminUser }) {
  if (user.deleted_at !== null) return <Status text="Pending deletion" look="bad" />;
  if (user.disabled) return <Status text="Disabled" look="waiting" />;
  if (user.last_sign_in_at === null) return <Status text="Never signed in" look="" />;
  return <Status text="Active" look="good" />;
}

export type AdminUserDetail = Schemas["AdminUserDetail"];

const joinCounts = (counts: [number, string][], nothing: string): string =>
  toList(counts.filter(([count]) => count > 0).map(([count, noun]) => formatCount(count, noun))) || nothing;

/** Returns "4 projects, 12 recordings, and 3 renders, 3.4 GB in all". */
export function describeContents({ contents, storage_used_bytes: bytes }: AdminUserDetail): string {
  const counted = joinCounts(
    [
      [contents.projects, "project"],
      [contents.assets, "recording"],
      [contents.cuts, "cut"],
      [contents.renders, "render"],
    ],
    "no projects and no recordings",
  );
  return bytes === 0 ? counted : `${counted}, ${formatBytes(bytes)} in all`;
}

/** Returns "2 sessions and 1 API key". */
export const describeAccess = ({ contents }: AdminUserDetail): string =>
  joinCounts(
    [
      [contents.sessions, "session"],
      [contents.api_keys, "API key"],
    ],
    "no sessions and no API keys",
  );

/** Describes the deleted content other than recordings. */
export const describeRest = ({ contents, credits }: AdminUserDetail): string =>
  joinCounts(
    [
      [isBilled.value ? credits : 0, "credit"],
      [contents.api_keys, "API key"],
      [contents.webhook_endpoints, "webhook endpoint"],
    ],
    "",
  );

/** Returns the shared workspaces that would have no owner without this user. */
export const listOnlyOwned = ({ contents }: AdminUserDetail): string[] =>
  contents.shared_workspaces.filter((one) => one.is_only_owner).map(({ name }) => name);
