import { api } from "../../../app/api";
import { useRead } from "../../../app/cache";
import { RelativeTime } from "../../../ui/relative-time";
import { Section } from "../../../ui/section";
import { ListSkeleton, ResourceView } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { formatDetails } from "../audit/audit-details";
import { ACTION_TEXTS, nameActor } from "../audit/audit-texts";

const MAX_SHOWN = 8;

type UserActivityProps = {
  userId: string;
  email: string;
  /** Changes with the account, so that the entries are reloaded. */
  version: string;
};

/** The latest audit log entries about an account. */
export function UserActivity({ userId, email, version }: UserActivityProps) {
  const entries = useRead(["admin-user-activity", userId, version], (signal) =>
    mustAdmin(api.GET("/api/v1/admin/audit", { params: { query: { target_id: userId, limit: MAX_SHOWN } }, signal })),
  );
  return (
    <Section
      title="Recent changes"
      actions={<a href={`/admin/audit?${new URLSearchParams({ user: email })}`}>Everything in the audit log</a>}
    >
      <ResourceView resource={entries} skeleton={<ListSkeleton rows={2} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">Nobody has changed this account.</p>
          ) : (
            <ul class="plain-list">
              {items.map((entry) => (
                <li key={entry.id} class="activity">
                  <span>{ACTION_TEXTS[entry.action] ?? entry.action}</span>
                  <span class="soft">
                    <RelativeTime iso={entry.created_at} />
                  </span>
                  <span class="soft truncate" title={formatDetails(entry)}>
                    <bdi>{nameActor(entry)}</bdi>
                    {formatDetails(entry) !== "" && <> · {formatDetails(entry)}</>}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </ResourceView>
    </Section>
  );
}
