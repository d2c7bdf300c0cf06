import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { MAX_URL_CHARACTERS } from "../../../src/domain/field-limits";
import { ApiError, api, must } from "../../app/api";
import { CopyField, ShownOnceDialog } from "../../ui/copy-field";
import { Field, FieldError, useFormErrors } from "../../ui/form";
import { FormDialog } from "../../ui/form-dialog";
import {
  ALL_EVENTS,
  type Endpoint,
  type EventType,
  listEventGroups,
  listSentEvents,
  type NewEndpoint,
} from "./webhook-texts";

type NewEndpointDialogProps = { onCreated(endpoint: NewEndpoint): void; onClose(): void };

export const NewEndpointDialog = ({ onCreated, onClose }: NewEndpointDialogProps) => (
  <EndpointDialog
    title="New endpoint"
    action="Create"
    onSend={async (url, event_types) =>
      onCreated(await must(api.POST("/api/v1/webhook-endpoints", { body: { url, event_types } })))
    }
    onClose={onClose}
  />
);

type EditEndpointDialogProps = { endpoint: Endpoint; onChanged(): void; onClose(): void };

export const EditEndpointDialog = ({ endpoint, onChanged, onClose }: EditEndpointDialogProps) => (
  <EndpointDialog
    title="Edit endpoint"
    action="Save"
    endpoint={endpoint}
    onSend={async (url, event_types) => {
      const params = { path: { endpoint_id: endpoint.id } };
      const call = api.PATCH("/api/v1/webhook-endpoints/{endpoint_id}", { params, body: { url, event_types } });
      await must(call);
      onClose();
      onChanged();
    }}
    onClose={onClose}
  />
);

type EndpointDialogProps = {
  title: string;
  action: string;
  endpoint?: Endpoint;
  onSend(url: string, events: EventType[]): Promise<void>;
  onClose(): void;
};

function EndpointDialog({ title, action, endpoint, onSend, onClose }: EndpointDialogProps) {
  const [chosen, setChosen] = useState(() => new Set<EventType>(endpoint?.event_types ?? ALL_EVENTS));
  return (
    <FormDialog
      title={title}
      submitLabel={action}
      onSend={async ({ url = "" }) => onSend(url.trim(), requireEvents(chosen))}
      onClose={onClose}
    >
      <EndpointFields endpoint={endpoint} chosen={chosen} onChoose={setChosen} />
    </FormDialog>
  );
}

type EndpointFieldsProps = {
  endpoint?: Endpoint;
  chosen: ReadonlySet<EventType>;
  onChoose(chosen: Set<EventType>): void;
};

/** The URL and the events of an endpoint. */
function EndpointFields({ endpoint, chosen, onChoose }: EndpointFieldsProps) {
  const { event_types: error } = useFormErrors();
  const sent = listSentEvents();
  const count = sent.filter((type) => chosen.has(type)).length;
  const isAll = count === sent.length;
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
      />
      <fieldset class="events" aria-describedby={error ? "events-error" : undefined}>
        <legend class="label">Events</legend>
        <label class="check">
          <input
            type="checkbox"
            name="event_types"
            checked={isAll}
            // Shows a mixed state when only some are chosen.
            ref={(input) => {
              if (input) input.indeterminate = !isAll && count > 0;
            }}
            onChange={() => onChoose(new Set(isAll ? [] : ALL_EVENTS))}
          />
          All events
        </label>
        {listEventGroups().map(({ title, events }) => (
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
        <FieldError name="event_types" id="events-error" />
      </fieldset>
    </>
  );
}

/**
 * Returns the chosen events in the order of the API, with those that are not shown. Throws `ApiError` if none of the
 * shown ones are chosen.
 */
function requireEvents(chosen: ReadonlySet<EventType>): EventType[] {
  const message = "Choose at least one event.";
  if (!listSentEvents().some((type) => chosen.has(type)))
    throw new ApiError(message, "validation_error", 422, { event_types: message });
  return ALL_EVENTS.filter((type) => chosen.has(type));
}

type SecretDialogProps = { title: string; secret: string; children?: ComponentChildren; onClose(): void };

/** Shows the signing secret once. */
export const SecretDialog = ({ title, secret, children, onClose }: SecretDialogProps) => (
  <ShownOnceDialog title={title} onClose={onClose}>
    <CopyField
      label="Signing secret"
      value={secret}
      hint="Copy it now: it is not shown again. The receiver needs it to verify deliveries."
      isFirst
    />
    {children}
  </ShownOnceDialog>
);
