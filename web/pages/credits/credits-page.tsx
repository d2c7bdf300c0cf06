import { api, must } from "../../app/api";
import { useResource } from "../../app/resource";
import { workspace } from "../../app/session";
import { useLiveReload } from "../../app/use-live-reload";
import { ListSkeleton, ResourceView } from "../../ui/states";
import { BalancePanel } from "./balance-panel";
import { CreditsFrame } from "./credits-frame";
import { HoldsPanel } from "./holds-panel";
import { PendingOrders } from "./pending-orders";
import { PriceList } from "./price-list";
import { SubscriptionPanel } from "./subscription-panel";
import { WaitingRecordings } from "./waiting-recordings";

/** The credits of the workspace: available, reserved, and where to buy more. */
export default function CreditsPage() {
  const shown = workspace.value;
  const balance = useResource((signal) => must(api.GET("/api/v1/credits/balance", { signal })), [shown?.id]);
  const prices = useResource((signal) => must(api.GET("/api/v1/billing/prices", { signal })), [shown?.id]);
  const subscription = useResource((signal) => must(api.GET("/api/v1/billing/subscription", { signal })), [shown?.id]);
  useLiveReload(["credits.updated"], balance);
  useLiveReload(["credits.updated"], subscription);
  return (
    <CreditsFrame title="Credits">
      {shown && !shown.is_personal && (
        <p class="soft">
          All members of the workspace <strong dir="auto">{shown.name}</strong> share these credits.
        </p>
      )}
      <ResourceView resource={balance} skeleton={<ListSkeleton rows={2} />}>
        {(value) => <BalancePanel credits={value} />}
      </ResourceView>
      <WaitingRecordings />
      <PendingOrders />
      <SubscriptionPanel subscription={subscription} prices={prices} />
      <PriceList prices={prices} subscription={subscription} />
      <HoldsPanel />
    </CreditsFrame>
  );
}
