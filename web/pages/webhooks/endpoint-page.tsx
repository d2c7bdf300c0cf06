import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { ApiError, api, must } from "../../app/api";
import type { Resource } from "../../app/cache";
import { useRead } from "../../app/cache";
import { canWrite, workspace } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { CopyField } from "../../ui/copy-field";
import { Facts } from "../../ui/facts";
import { Page } from "../../ui/page";
import { RelativeTime } from "../../ui/relative-time";
import { Section } from "../../ui/section";
import { Empty, ErrorPanel, ListSkeleton } from "../../ui/states";
import { Status } from "../../ui/status";
import { Missing } from "../missing";
import { DeliveriesSection } from "./deliveries-section";
import { EndpointActions } from "./endpoint-actions";
import { EndpointNotices } from "./endpoint-notices";
import { type DeliveryFilter, IDLE_MS, useDeliveries } from "./use-deliveries";
import { VerifySection } from "./verify-section";
import { type Endpoint, formatEvents, shortenUrl, toEndpointLook } from "./webhook-texts";

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
  const state = endpoint.state.value;
  if (state.kind === "loading") return <ListSkeleton />;
  if (state.kind === "failed") {
    const isMissing = state.error instanceof ApiError && [404, 422].includes(state.error.status);
    if (!isMissing) return <ErrorPanel message={state.message} onRetry={() => void endpoint.reload()} />;
    return (
      <Missing id={endpointId}>
        <EndpointNotFound />
      </Missing>
    );
  }
  return <EndpointView key={state.value.id} endpoint={state.value} resource={endpoint} />;
}

const EndpointNotFound = () => (
  <Page title="Endpoint not found">
    <Empty title="There is no endpoint at this address" icon="webhook">
      <p>It may have been deleted, or you may not have access to it.</p>
      <a class="button" href="/webhooks">
        All endpoints
      </a>
    </Empty>
  </Page>
);

type EndpointViewProps = { endpoint: Endpoint; resource: Resource<Endpoint> };

function EndpointView({ endpoint, resource }: EndpointViewProps) {
  const { route } = useLocation();
  const [filter, setFilter] = useState<DeliveryFilter>("all");
  const params = { path: { endpoint_id: endpoint.id } };
  const deliveries = useDeliveries(endpoint, filter);
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
      actions={
        canWrite.value && (
          <EndpointActions
            endpoint={endpoint}
            onChanged={() => void resource.reload()}
            onTested={() => {
              setFilter("all");
              void deliveries.reload();
            }}
            onDeleted={() => route("/webhooks")}
            setState={(state) => void setState(state)}
          />
        )
      }
    >
      <EndpointNotices endpoint={endpoint} onEnable={canWrite.value ? () => void setState("enabled") : null} />
      <EndpointSummary endpoint={endpoint} />
      <DeliveriesSection endpoint={endpoint} list={deliveries} filter={filter} onFilter={setFilter} />
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
