import { api, must, type Schemas } from "../../app/api";
import { Button } from "../../ui/button";
import { Form } from "../../ui/form";

type OrderDecisionProps = { orderId: string; onDecided(order: Schemas["AdminOrder"]): void };

/** Two separate forms, so that each shows its own error. */
export function OrderDecision({ orderId, onDecided }: OrderDecisionProps) {
  const params = { path: { order_id: orderId } };
  return (
    <>
      <Form onSend={async () => onDecided(await must(api.POST("/api/v1/admin/orders/{order_id}/approve", { params })))}>
        {({ isSending }) => (
          <Button look="primary" type="submit" isBusy={isSending}>
            Approve
          </Button>
        )}
      </Form>
      <Form onSend={async () => onDecided(await must(api.POST("/api/v1/admin/orders/{order_id}/reject", { params })))}>
        {({ isSending }) => (
          <Button type="submit" isBusy={isSending}>
            Reject
          </Button>
        )}
      </Form>
    </>
  );
}
