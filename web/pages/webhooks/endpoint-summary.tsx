import { CopyField } from "../../ui/copy-field";
import { Facts } from "../../ui/facts";
import { RelativeTime } from "../../ui/relative-time";
import { Section } from "../../ui/section";
import { Status } from "../../ui/status";
import { type Endpoint, formatEvents, toEndpointLook } from "./webhook-texts";

/** Summarizes an endpoint. */
export const EndpointSummary = ({ endpoint }: { endpoint: Endpoint }) => (
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
