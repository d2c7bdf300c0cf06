import { MAX_URL_CHARACTERS } from "../../../src/domain/field-limits";
import { ApiError } from "../../app/api";
import { Field } from "../../ui/field";
import { ALL_EVENTS, type Endpoint, EVENT_GROUPS, type EventType } from "./webhook-texts";

type EndpointFieldsProps = {
  endpoint?: Endpoint;
  errors: Record<string, string>;
  chosen: ReadonlySet<EventType>;
  onChoose(chosen: Set<EventType>): void;
};

/** The URL and the events of an endpoint. */
export function EndpointFields({ endpoint, errors, chosen, onChoose }: EndpointFieldsProps) {
  const isAll = chosen.size === ALL_EVENTS.length;
  const toggle = (type: EventType) => {
    const next = new Set(chosen);
    if (!next.delete(type)) next.add(type);
    onChoose(next);
  };
  return (
    <>
      <Field
        label="URL"
        name="url"
        type="url"
        maxLength={MAX_URL_CHARACTERS}
        required
        isFirst
        spellcheck={false}
        autocomplete="off"
        placeholder="https://example.com/hooks"
        value={endpoint?.url ?? ""}
        hint="Offcut sends a POST request to this URL for each event."
        error={errors.url}
      />
      <fieldset class="events" aria-describedby={errors.event_types ? "events-error" : undefined}>
        <legend class="label">Events</legend>
        <label class="check">
          <input
            type="checkbox"
            name="event_types"
            checked={isAll}
            // Shows a mixed state when only some are chosen.
            ref={(input) => {
              if (input) input.indeterminate = !isAll && chosen.size > 0;
            }}
            onChange={() => onChoose(new Set(isAll ? [] : ALL_EVENTS))}
          />
          All events
        </label>
        {EVENT_GROUPS.map(({ title, events }) => (
          <div key={title} class="event-group">
            <span class="soft">{title}</span>
            {events.map(({ type, text }) => (
              <label key={type} class="check">
                <input type="checkbox" checked={chosen.has(type)} onChange={() => toggle(type)} />
                <span>
                  <code>{type}</code> <span class="soft">{text}</span>
                </span>
              </label>
            ))}
          </div>
        ))}
        {errors.event_types && (
          <span class="field-error" id="events-error">
            {errors.event_types}
          </span>
        )}
      </fieldset>
    </>
  );
}

/** Returns the chosen events in the order of the API. Throws `ApiError` if none are chosen. */
export function requireEvents(chosen: ReadonlySet<EventType>): EventType[] {
  const message = "Choose at least one event.";
  if (chosen.size === 0) throw new ApiError(message, "validation_error", 422, { event_types: message });
  return ALL_EVENTS.filter((type) => chosen.has(type));
}
