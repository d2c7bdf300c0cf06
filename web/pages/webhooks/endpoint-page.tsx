import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { MAX_FAILING_MS } from "../../../src/domain/webhooks";
import { api, must } from "../../app/api";
import { type Resource, useRead } from "../../app/cache";
import { formatTime } from "../../app/format";
import { canWrite, workspace } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { CopyField } from "../../ui/copy-field";
import { ConfirmDialog } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import { Page } from "../../ui/page";
import { Facts, Section } from "../../ui/section";
import { Empty, Message, ResourceView } from "../../ui/states";
import { Status } from "../../ui/status";
import { RelativeTime } from "../../ui/time";
import { Missing } from "../missing";
import { DeliveriesSection, type DeliveryFilter, IDLE_MS, useDeliveries } from "./deliveries-section";
import { EditEndpointDialog, SecretDialog } from "./endpoint-dialog";
import { VerifySection } from "./verify-section";
import { DISABLED_TEXTS, type Endpoint, formatEvents, shortenUrl, toEndpointLook } from "./webhook-texts";

/** Shows an endpoint and its deliveries. */
export default function EndpointPage() {
  const endpointId = useRoute().params.endpointId ?? "";
  const endpoint = useRead(
    ["endpoint", endpointId, workspace.value?.id],
    (signal) => {
      const params = { path: { endpoint_id: endpointId } };
      return must(api.GET("/api/v1/webhook-endpoints/{endpoint_id}", { params, signal }));
    },
    { refreshMs: IDLE_MS },
  );
  const notFound = (
    <Missing id={endpointId}>
      <EndpointNotFound />
    </Missing>
  );
  return (
    <ResourceView resource={endpoint} notFound={notFound}>
      {(value) => <EndpointView key={value.id} endpoint={value} resource={endpoint} />}
    </ResourceView>
  );
}

const CRUMB = { label: "Webhooks", href: "/webhooks" };

const EndpointNotFound = () => (
  <Page title="Endpoint not found" crumb={CRUMB}>
    <Empty
      title="It may have been deleted, or you may not have access to it"
      icon="webhook"
      link={{ href: "/webhooks", label: "Show all endpoints" }}
    />
  </Page>
);

type EndpointViewProps = { endpoint: Endpoint; resource: Resource<Endpoint> };

function EndpointView({ endpoint, resource }: EndpointViewProps) {
  const { route } = useLocation();
  const [filter, setFilter] = useState<DeliveryFilter>("all");
  const params = { path: { endpoint_id: endpoint.id } };
  const deliveries = useDeliveries(endpoint, filter);
  const test = async () => {
    try {
      await must(api.POST("/api/v1/webhook-endpoints/{endpoint_id}/test", { params }));
      showToast({ kind: "info", text: "Test event queued. It appears under Deliveries." });
      setFilter("all");
      void deliveries.reload();
    } catch (error) {
      showFailure(error);
    }
  };
  const setState = async (state: Endpoint["state"]) => {
    try {
      const call = api.PATCH("/api/v1/webhook-endpoints/{endpoint_id}", { params, body: { state } });
      await must(call);
      await resource.reload();
      await deliveries.reload();
    } catch (error) {
      showFailure(error);
    }
  };
  return (
    <Page
      title={shortenUrl(endpoint.url)}
      crumb={CRUMB}
      actions={
        canWrite.value && (
          <EndpointActions
            endpoint={endpoint}
            onChanged={() => void resource.reload()}
            onTest={() => void test()}
            onDeleted={() => route("/webhooks")}
            setState={(state) => void setState(state)}
          />
        )
      }
    >
      <EndpointNotices endpoint={endpoint} onEnable={canWrite.value ? () => void setState("enabled") : null} />
      <EndpointSummary endpoint={endpoint} />
      <DeliveriesSection
        endpoint={endpoint}
        list={deliveries}
        filter={filter}
        onFilter={setFilter}
        onTest={canWrite.value && endpoint.state === "enabled" ? () => void test() : null}
      />
      <VerifySection />
    </Page>
  );
}

/** Summarizes an endpoint. */
const EndpointSummary = ({ endpoint }: { endpoint: Endpoint }) => (
  <Section title="Endpoint" actions={<Status {...toEndpointLook(endpoint)} />}>
    <CopyField label="URL" value={endpoint.url} />
    <Facts
      facts={[
        ["Events", formatEvents(endpoint.event_types)],
        ["Created", <RelativeTime iso={endpoint.created_at} />],
        [
          "Last success",
          endpoint.last_success_at === null ? "None yet" : <RelativeTime iso={endpoint.last_success_at} />,
        ],
      ]}
    />
  </Section>
);

type EndpointNoticesProps = { endpoint: Endpoint; onEnable: (() => void) | null };

/** Notices for an endpoint that is disabled, is failing, or has two secrets. */
function EndpointNotices({ endpoint, onEnable }: EndpointNoticesProps) {
  const { state, disabled_at: disabledAt, disabled_reason: reason, failing_since: failingSince } = endpoint;
  const oldSecretUntil = endpoint.old_secret_expires_at;
  return (
    <div class="notices">
      {state === "disabled" && (
        <Message look="warning">
          <p>
            <strong>
              Disabled
              {disabledAt !== null && (
                <>
                  {" "}
                  <RelativeTime iso={disabledAt} />
                </>
              )}
              .
            </strong>{" "}
            {reason !== null && DISABLED_TEXTS[reason]} Events that occur while it is disabled are not sent. Pending
            deliveries are sent when the endpoint is enabled.
          </p>
          {onEnable && (
            <span class="message-actions">
              <Button onClick={onEnable}>Enable</Button>
            </span>
          )}
        </Message>
      )}
      {state === "enabled" && failingSince !== null && (
        <Message look="warning">
          <p>
            <strong>
              Deliveries began to fail <RelativeTime iso={failingSince} />.
            </strong>{" "}
            Offcut keeps retrying and disables the endpoint if none succeeds by{" "}
            {formatTime(new Date(Date.parse(failingSince) + MAX_FAILING_MS))}.
          </p>
        </Message>
      )}
      {oldSecretUntil !== null && Date.parse(oldSecretUntil) > Date.now() && (
        <Message>
          <p>
            Deliveries are signed with the old and the new secret until {formatTime(oldSecretUntil)}. Replace the old
            one in the receiver by then.
          </p>
        </Message>
      )}
    </div>
  );
}

type EndpointActionsProps = {
  endpoint: Endpoint;
  onChanged(): void;
  onTest(): void;
  onDeleted(): void;
  setState(state: Endpoint["state"]): void;
};

/** The actions for an endpoint. */
function EndpointActions({ endpoint, onChanged, onTest, onDeleted, setState }: EndpointActionsProps) {
  const [open, setOpen] = useState<"edit" | "rotate" | "delete" | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const params = { path: { endpoint_id: endpoint.id } };
  const isEnabled = endpoint.state === "enabled";
  const close = () => setOpen(null);
  return (
    <div class="toolbar">
      {isEnabled && <Button onClick={onTest}>Send test event</Button>}
      <Button onClick={() => setOpen("edit")}>Edit</Button>
      <Menu
        label="More actions"
        items={[
          { label: "Rotate secret", icon: "key", run: () => setOpen("rotate") },
          isEnabled
            ? { label: "Disable", run: () => setState("disabled") }
            : { label: "Enable", run: () => setState("enabled") },
          { label: "Delete", icon: "trash", isDangerous: true, run: () => setOpen("delete") },
        ]}
      >
        <Icon name="more" />
      </Menu>
      {open === "edit" && <EditEndpointDialog endpoint={endpoint} onChanged={onChanged} onClose={close} />}
      {open === "rotate" && (
        <ConfirmDialog
          title="Rotate the signing secret?"
          confirmLabel="Rotate secret"
          onConfirm={async () => {
            const path = "/api/v1/webhook-endpoints/{endpoint_id}/rotate-secret";
            setSecret((await must(api.POST(path, { params }))).secret);
          }}
          onClose={close}
        >
          <p>
            The endpoint gets a new secret. For 24 hours deliveries are signed with the old and the new one, so that no
            delivery is rejected while you update the receiver. After that, a receiver that still has the old secret
            rejects deliveries. A secret from an earlier rotation stops working at once.
          </p>
        </ConfirmDialog>
      )}
      {open === "delete" && <DeleteDialog endpoint={endpoint} onDeleted={onDeleted} onClose={close} />}
      {open === null && secret !== null && (
        <SecretDialog
          title="Secret rotated"
          secret={secret}
          onClose={() => {
            setSecret(null);
            // Called only now: a page that fails to load would remove the secret.
            onChanged();
          }}
        >
          <p>The old secret works for 24 more hours.</p>
        </SecretDialog>
      )}
    </div>
  );
}

type DeleteDialogProps = { endpoint: Endpoint; onDeleted(): void; onClose(): void };

const DeleteDialog = ({ endpoint, onDeleted, onClose }: DeleteDialogProps) => (
  <ConfirmDialog
    title="Delete this endpoint?"
    confirmLabel="Delete endpoint"
    onConfirm={async () => {
      const params = { path: { endpoint_id: endpoint.id } };
      await must(api.DELETE("/api/v1/webhook-endpoints/{endpoint_id}", { params }));
      showToast({ kind: "info", text: "Endpoint deleted." });
      onDeleted();
    }}
    onClose={onClose}
  >
    <p>
      <strong class="url">{endpoint.url}</strong> receives no more events. Its signing secret, delivery history and
      pending deliveries are deleted. Recordings, cuts and renders are kept. This cannot be undone. To pause the
      endpoint, disable it instead.
    </p>
  </ConfirmDialog>
);
