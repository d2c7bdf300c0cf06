import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { me } from "../../app/session";
import { Icon } from "../../ui/icon";
import { Section } from "../../ui/section";
import { ListSkeleton, ResourceView } from "../../ui/states";
import { AccountFrame } from "./account-frame";
import { PreferenceGrid } from "./preference-grid";

/** The settings for which notifications the user receives, and how. */
export default function NotificationsPage() {
  const preferences = useRead(["notification-preferences"], (signal) =>
    must(api.GET("/api/v1/notifications/preferences", { signal })),
  );
  return (
    <AccountFrame title="Notification settings">
      <Section
        title="Notifications"
        hint="Notifications cover work that you start, and webhook endpoints of workspaces that you own. Changes are saved immediately."
      >
        <ResourceView resource={preferences} skeleton={<ListSkeleton rows={6} />}>
          {({ items }) => (
            <>
              {items.some(({ is_available: isAvailable }) => !isAvailable) && <NoMail />}
              <PreferenceGrid initial={items} />
            </>
          )}
        </ResourceView>
      </Section>
    </AccountFrame>
  );
}

/** Explains why no email is sent regardless of the settings. */
function NoMail() {
  const methods = useRead(["sign-in-methods"], (signal) => must(api.GET("/api/v1/auth/methods", { signal }))).state
    .value;
  if (methods.kind === "loading") return null;
  const canConfirm = methods.kind !== "ready" || methods.value.email;
  return (
    <p class="message">
      <Icon name="info" />
      {canConfirm && me.value?.email_verified_at === null ? (
        <span>
          Email notifications are sent once your address is confirmed. <a href="/account">Confirm it</a>
        </span>
      ) : (
        <span>
          This server does not send email. Your choices take effect when an administrator sets up a mail server.
        </span>
      )}
    </p>
  );
}
