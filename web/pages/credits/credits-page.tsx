import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { workspace } from "../../app/session";
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
  const id = shown?.id;
  const balance = useRead(["credits", "balance", id], (signal) => must(api.GET("/api/v1/credits/balance", { signal })));
  const prices = useRead(["prices", id], (signal) => must(api.GET("/api/v1/billing/prices", { signal })));
  const subscription = useRead(["credits", "subscription", id], (signal) =>
    must(api.GET("/api/v1/billing/subscription", { signal })),
  );
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
