import { me } from "../app/session";
import { Page } from "../ui/page";
import { Empty } from "../ui/states";

/** What the API still answers during the grace period of an account. */
const OPEN_IN_GRACE = ["/account", "/account/notifications", "/account/data", "/notifications", "/status"];

/** Whether the page cannot be read because the account is being deleted. Reads signals. */
export const isLocked = (path: string): boolean =>
  (me.value?.deleted_at ?? null) !== null && !OPEN_IN_GRACE.includes(path.replace(/\/$/, ""));

/** Stands in for a page that opens again when the account is restored. */
export const LockedPage = () => (
  <Page title="Not available">
    <Empty title="Restore your account to open this page" icon="info">
      <p>
        While the account is being deleted, you can view your <a href="/account">profile</a> and{" "}
        <a href="/account/data">export your data</a>. No data is deleted yet.
      </p>
    </Empty>
  </Page>
);
