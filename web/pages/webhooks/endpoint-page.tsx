import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { ApiError, api, must } from "../../app/api";
import { orReread } from "../../app/reread";
import { type Resource, useResource } from "../../app/resource";
import { canWrite, workspace } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { Page } from "../../ui/page";
import { Empty, ErrorPanel, ListSkeleton } from "../../ui/states";
import { Missing } from "../missing";
import { DeliveriesSection } from "./deliveries-section";
import { EndpointActions } from "./endpoint-actions";
import { EndpointNotices } from "./endpoint-notices";
import { EndpointSummary } from "./endpoint-summary";
import { type DeliveryFilter, useDeliveries } from "./use-deliveries";
import { VerifySection } from "./verify-section";
import { type Endpoint, shortenUrl } from "./webhook-texts";

/** Shows an endpoint and its deliveries. */
export default function EndpointPage() {
  const endpointId = useRoute().params.endpointId ?? "";
  const endpoint = useResource(
    (signal) => {
      const params = { path: { endpoint_id: endpointId } };
      return must(api.GET("/api/v1/webhook-endpoints/{endpoint_id}", { params, signal }));
    },
    [endpointId, workspace.value?.id],
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
  const deliveries = useDeliveries(endpoint, filter, () => void refreshEndpoint(resource, endpoint.id));
  const setState = async (state: Endpoint["state"]) => {
    try {
      const call = api.PATCH("/api/v1/webhook-endpoints/{endpoint_id}", { params, body: { state } });
      await orReread(must(call), resource.reload);
      await resource.reload();
      await deliveries.refresh();
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
              void deliveries.refresh();
            }}
            onDeleted={() => route("/webhooks")}
            setState={(state) => void setState(state)}
          />
        )
      }
    >
      <EndpointNotices endpoint={endpoint} onEnable={canWrite.value ? () => void setState("enabled") : null} />
      <EndpointSummary endpoint={endpoint} />
      <DeliveriesSection endpoint={endpoint} deliveries={deliveries} filter={filter} onFilter={setFilter} />
      <VerifySection />
    </Page>
  );
}

/** Reloads the endpoint. The current value stays while the server does not respond. */
async function refreshEndpoint(resource: Resource<Endpoint>, id: string): Promise<void> {
  const params = { path: { endpoint_id: id } };
  const answer = await api.GET("/api/v1/webhook-endpoints/{endpoint_id}", { params }).catch(() => null);
  if (answer?.response.status === 404) return resource.reload();
  const shown = resource.state.value;
  if (!answer?.data || shown.kind !== "ready" || JSON.stringify(shown.value) === JSON.stringify(answer.data)) return;
  resource.state.value = { kind: "ready", value: answer.data };
}
