import { useId, useState } from "preact/hooks";
import { api, must, toMessage } from "../../app/api";
import { isBilled } from "../../app/session";
import { ErrorPanel } from "../../ui/states";
import { CATEGORY_NAMES, CHANNEL_NAMES, type Preference, toMandatoryText, toPreferenceText } from "./preference-texts";

const isFree = ({ category, type }: Preference) => category !== "billing" && type !== "asset_pending_payment";

/** One row per type and one column per channel, in the order of the API. */
export function PreferenceGrid({ initial }: { initial: Preference[] }) {
  const [items, setItems] = useState(() => (isBilled.value ? initial : initial.filter(isFree)));
  const [note, setNote] = useState("");
  const [error, setError] = useState<string | null>(null);
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
      setError(toMessage(thrown));
    }
  };

  return (
    <>
      {error && <ErrorPanel message={error} />}
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
