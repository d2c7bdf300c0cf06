import { me } from "../app/session";
import { Page } from "../ui/page";
import { Empty } from "../ui/states";

/** Pages that the API still serves during the grace period of an account. */
const OPEN_IN_GRACE = ["/account", "/account/notifications", "/account/data", "/notifications", "/status"];

/** Returns whether the page is unavailable because the account is pending deletion. Reads signals. */
export const isLocked = (path: string): boolean =>
  (me.value?.deleted_at ?? null) !== null && !OPEN_IN_GRACE.includes(path.replace(/\/$/, ""));

/** Replaces a page until the account is restored. */
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
