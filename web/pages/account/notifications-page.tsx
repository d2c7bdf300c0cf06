import { useId, useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { isBilled, me } from "../../app/session";
import { useSignInMethods } from "../../app/shared-reads";
import { Section } from "../../ui/section";
import { ErrorMessage, ListSkeleton, Message, ResourceView } from "../../ui/states";
import { AccountFrame } from "../frames";

/** The settings for which notifications the user receives, and how. */
export default function NotificationsPage() {
  const preferences = useRead(["notification-preferences"], (signal) =>
    must(api.GET("/api/v1/notifications/preferences", { signal })),
  );
  return (
    <AccountFrame title="Notification settings">
      <Section
        title="Notifications"
        hint="You are notified about work that you start, and about webhooks of workspaces that you own. Changes are saved immediately."
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
  const methods = useSignInMethods().state.value;
  if (methods.kind === "loading") return null;
  const canConfirm = methods.kind !== "ready" || methods.value.email;
  return (
    <Message>
      {canConfirm && me.value?.email_verified_at === null ? (
        <span>
          Email notifications are sent once your address is confirmed. <a href="/account">Confirm it</a>
        </span>
      ) : (
        <span>
          This server does not send email. Your choices take effect when an administrator sets up a mail server.
        </span>
      )}
    </Message>
  );
}

const isFree = ({ category, type }: Preference) => category !== "billing" && type !== "asset_pending_payment";

/** One row per type and one column per channel, in the order of the API. */
function PreferenceGrid({ initial }: { initial: Preference[] }) {
  const [items, setItems] = useState(() => (isBilled.value ? initial : initial.filter(isFree)));
  const [note, setNote] = useState("");
  const [error, setError] = useState<unknown>(null);
  const channels = [...new Set(items.map(({ channel }) => channel))];
  const categories = [...new Set(items.map(({ category }) => category))];

  const change = async (one: Preference, enabled: boolean) => {
    const { type, channel } = one;
    const show = (isOn: boolean) =>
      setItems((shown) =>
        shown.map((item) => (item.type === type && item.channel === channel ? { ...item, enabled: isOn } : item)),
      );
    show(enabled);
    setError(null);
    setNote("");
    try {
      await must(api.PATCH("/api/v1/notifications/preferences", { body: { items: [{ type, channel, enabled }] } }));
      setNote(`Saved: ${toPreferenceText(type).title}, ${CHANNEL_NAMES[channel].toLowerCase()}.`);
    } catch (thrown) {
      show(!enabled);
      setError(thrown);
    }
  };

  return (
    <>
      <ErrorMessage error={error} />
      <table class="preferences">
        <caption class="visually-hidden">Notifications by channel</caption>
        <thead>
          <tr>
            <th scope="col">Notification</th>
            {channels.map((channel) => (
              <th key={channel} scope="col">
                {CHANNEL_NAMES[channel]}
              </th>
            ))}
          </tr>
        </thead>
        {categories.map((category) => (
          <tbody key={category}>
            <tr>
              <th scope="rowgroup" class="preference-group" colSpan={channels.length + 1}>
                {CATEGORY_NAMES[category]}
              </th>
            </tr>
            {[...new Set(items.filter((item) => item.category === category).map(({ type }) => type))].map((type) => (
              <PreferenceRow
                key={type}
                type={type}
                cells={items.filter((item) => item.type === type)}
                onChange={(item, enabled) => void change(item, enabled)}
              />
            ))}
          </tbody>
        ))}
      </table>
      <p class="hint-line" role="status">
        {note}
      </p>
    </>
  );
}

type RowProps = { type: Preference["type"]; cells: Preference[]; onChange(item: Preference, enabled: boolean): void };

function PreferenceRow({ type, cells, onChange }: RowProps) {
  const id = useId();
  const { title, detail } = toPreferenceText(type);
  const mandatory = cells.find(({ is_mandatory: isMandatory }) => isMandatory);
  return (
    <tr>
      <th scope="row">
        {title}
        <span class="preference-detail" id={id}>
          {detail} {mandatory && toMandatoryText(mandatory)}
        </span>
      </th>
      {cells.map((item) => (
        <td key={item.channel}>
          <input
            type="checkbox"
            aria-label={`${title}, ${CHANNEL_NAMES[item.channel].toLowerCase()}`}
            aria-describedby={id}
            checked={item.enabled}
            disabled={item.is_mandatory}
            onChange={(event) => onChange(item, event.currentTarget.checked)}
          />
        </td>
      ))}
    </tr>
  );
}

type Preference = Schemas["NotificationPreferences"]["items"][number];

type Text = { title: string; detail: string };

const TEXTS: Record<Preference["type"], Text> = {
  pipeline_completed: {
    title: "Job completed",
    detail:
      "A job that you started has completed. By default, a single cut or render is included only if it took over a minute.",
  },
  pipeline_failed: { title: "Job failed", detail: "A cut or render that you started has failed." },
  asset_pending_payment: {
    title: "Recording needs credits",
    detail: "A recording cannot be prepared until the workspace has enough credits.",
  },
  webhook_disabled: { title: "Webhook endpoint disabled", detail: "Its deliveries have failed for too long." },
  subscription_payment_failed: { title: "Payment failed", detail: "The payment for a subscription has failed." },
  workspace_invitation: { title: "Invitation", detail: "Somebody invites you to a workspace." },
  order_pending: { title: "Order awaiting approval", detail: "For administrators: an order is waiting for approval." },
  problem_found: {
    title: "Server problem",
    detail: "For administrators: something on the server needs attention. Once a day while it lasts.",
  },
  problem_resolved: { title: "Server problem solved", detail: "For administrators: a reported problem has ended." },
  data_export_ready: { title: "Data export", detail: "The export of your data is ready, or has failed." },
};

/** Returns the texts of a notification type. An unknown type gets its name from the API. */
const toPreferenceText = (type: Preference["type"]): Text =>
  TEXTS[type] ?? { title: type.replaceAll("_", " "), detail: "" };

const CATEGORY_NAMES: Record<Preference["category"], string> = {
  job: "Recordings, cuts and renders",
  system: "Integrations",
  billing: "Billing",
  account: "Account",
};

const CHANNEL_NAMES: Record<Preference["channel"], string> = { in_app: "In app", email: "Email" };

/** Reasons why a channel of a type cannot be turned off. */
const MANDATORY_TEXTS: Record<string, string> = {
  "data_export_ready/in_app": "Always shown in the app, because it has the download link.",
  "subscription_payment_failed/email": "Always sent by email, because the subscription ends without payment.",
  "problem_found/in_app": "Always shown in the app, so that no problem is missed.",
};

/** Returns why a channel of a type cannot be turned off. */
const toMandatoryText = ({ type, channel }: Preference): string => MANDATORY_TEXTS[`${type}/${channel}`] ?? "";
