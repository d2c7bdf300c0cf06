import { useEffect, useState } from "preact/hooks";
import { api, must, type Schemas, toMessage } from "../../app/api";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { ErrorPanel } from "../../ui/states";
import { toOrderHeader } from "./use-order";

type OrderActionsProps = {
  order: Schemas["Order"];
  workspaceId: string | undefined;
  onChanged(): Promise<void>;
};

/** Actions for the buyer while the order is pending: pay, or cancel. */
export function OrderActions({ order, workspaceId, onChanged }: OrderActionsProps) {
  const [isCancelling, setIsCancelling] = useState(false);
  const [isLeaving, setIsLeaving] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const params = { path: { order_id: order.id }, header: toOrderHeader(workspaceId) };
  // A page that the browser restores is in the state in which the user left it.
  useEffect(() => {
    const onShow = () => setIsLeaving(false);
    addEventListener("pageshow", onShow);
    return () => removeEventListener("pageshow", onShow);
  }, []);
  const pay = async () => {
    setIsLeaving(true);
    setError(null);
    try {
      const { url } = await must(api.POST("/api/v1/billing/orders/{order_id}/checkout", { params }));
      location.assign(url);
    } catch (thrown) {
      setError(toMessage(thrown));
      setIsLeaving(false);
      void onChanged();
    }
  };
  return (
    <>
      {error !== null && <ErrorPanel message={error} />}
      <div class="toolbar">
        {order.provider === "stripe" && (
          <Button look="primary" isBusy={isLeaving} onClick={() => void pay()}>
            Continue to payment
          </Button>
        )}
        <Button onClick={() => setIsCancelling(true)}>Cancel order</Button>
      </div>
      {isCancelling && (
        <ConfirmDialog
          title="Cancel the order?"
          confirmLabel="Cancel order"
          closeLabel="Keep order"
          onConfirm={async () => {
            await must(api.POST("/api/v1/billing/orders/{order_id}/cancel", { params }));
            await onChanged();
          }}
          onClose={() => setIsCancelling(false)}
        >
          <p>
            The order is closed: it can no longer be paid or approved, and no credits are added. You can order again.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
