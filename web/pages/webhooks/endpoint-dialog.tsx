import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { Dialog } from "../../ui/dialog";
import { FormActions } from "../../ui/dialog-actions";
import { Form } from "../../ui/form";
import { EndpointFields, requireEvents } from "./endpoint-fields";
import { ALL_EVENTS, type Endpoint, type EventType, type NewEndpoint } from "./webhook-texts";

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
    <Dialog title={title} onClose={onClose}>
      <Form class="dialog-body" onSend={async ({ url = "" }) => onSend(url.trim(), requireEvents(chosen))}>
        {({ errors, isSending }) => (
          <>
            <EndpointFields endpoint={endpoint} errors={errors} chosen={chosen} onChoose={setChosen} />
            <FormActions submitLabel={action} isSending={isSending} onCancel={onClose} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
