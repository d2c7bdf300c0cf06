import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { ApiError, api, isNotFound, must, type Schemas } from "../../app/api";
import { type Resource, useRead } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatCount, formatTime } from "../../app/format";
import { formatPrice } from "../../app/rare-formats";
import {
  chooseWorkspace,
  isAdmin,
  isBilled,
  me,
  toWorkspaceHeader,
  type Workspace,
  type WorkspaceHeader,
  workspaces,
} from "../../app/session";
import { isUuid } from "../../app/use-query";
import { Button } from "../../ui/button";
import { ConfirmButton } from "../../ui/dialog";
import { Form } from "../../ui/form";
import { NotFoundPage, Page } from "../../ui/page";
import { type Fact, Facts } from "../../ui/section";
import { Empty, ErrorMessage, ErrorPanel, ListSkeleton } from "../../ui/states";
import { OrderStatus } from "../../ui/status";
import { Missing } from "../missing";

type AdminOrder = Schemas["AdminOrder"];

/** Shows an order of credits, and its approval for administrators. The payment provider redirects here. */
export default function OrderPage() {
  return isBilled.value ? <AnyOrder /> : <NotFoundPage />;
}

function AnyOrder() {
  const { params, query } = useRoute();
  const { route } = useLocation();
  const orderId = params.orderId ?? "";
  const workspaceId = isUuid(query.workspace_id ?? "") ? query.workspace_id : undefined;
  const loaded = useOrder(orderId, workspaceId);
  const [decided, setDecided] = useState<AdminOrder | null>(null);
  const state = loaded.state.value;
  if (state.kind === "loading") return <ListSkeleton />;
  if (state.kind === "failed") {
    if (!isNotFound(state.error)) return <ErrorPanel error={state.error} onRetry={() => void loaded.reload()} />;
    // The address names the order's workspace, so that the current workspace does not change.
    const open = ({ id }: Workspace) => route(`/orders/${orderId}?workspace_id=${id}`, true);
    return (
      <Missing id={orderId} from={findOrderWorkspace(workspaceId)?.id} onFound={open}>
        <Page title="Order not found">
          <Empty
            title="It may have been deleted, or you may not have access to it"
            icon="search"
            link={{ href: "/credits/orders", label: "Show all orders" }}
          />
        </Page>
      </Missing>
    );
  }
  const shown: ShownOrder = decided?.id === orderId ? { order: decided, administered: decided } : state.value;
  const { order, administered } = shown;
  const isPending = order.state === "pending";
  // This may be another user's order. Without a workspace in the address, `findOrderWorkspace` returns the personal
  // one.
  const own = findOrderWorkspace(workspaceId);
  const isAsAdmin = administered !== null && administered.workspace?.id !== own?.id;
  // The credits pages always show the current workspace.
  const showWorkspace = () => own && chooseWorkspace(own.id);
  return (
    <Page
      title="Order"
      crumb={{
        label: "Orders",
        ...(isAsAdmin ? { href: "/admin/orders" } : { href: "/credits/orders", onClick: showWorkspace }),
      }}
      actions={<OrderStatus state={order.state} />}
    >
      <section class="card order" aria-label="Details">
        <Facts facts={listOrderFacts(shown)} />
        <p role="status">{describeNext(order)}</p>
        {isPending && administered !== null && order.provider === "offline" && (
          <OrderDecision orderId={order.id} onDecided={setDecided} />
        )}
        {isPending && !isAsAdmin && own !== undefined && own.role !== "viewer" && (
          <OrderActions order={order} workspaceId={workspaceId} onChanged={() => loaded.reload()} />
        )}
        {!isPending && !isAsAdmin && (
          <p>
            <a href="/credits" onClick={showWorkspace}>
              Open credits
            </a>
          </p>
        )}
      </section>
    </Page>
  );
}

type OrderDecisionProps = { orderId: string; onDecided(order: Schemas["AdminOrder"]): void };

/** Two separate forms, so that each shows its own error. */
function OrderDecision({ orderId, onDecided }: OrderDecisionProps) {
  const params = { path: { order_id: orderId } };
  return (
    <>
      <Form
        submitLabel="Approve"
        onSend={async () => onDecided(await must(api.POST("/api/v1/admin/orders/{order_id}/approve", { params })))}
      />
      <Form
        submitLabel="Reject"
        look="default"
        onSend={async () => onDecided(await must(api.POST("/api/v1/admin/orders/{order_id}/reject", { params })))}
      />
    </>
  );
}

type OrderActionsProps = {
  order: Schemas["Order"];
  workspaceId: string | undefined;
  onChanged(): Promise<void>;
};

/** Actions for the buyer while the order is pending: pay, or cancel. */
function OrderActions({ order, workspaceId, onChanged }: OrderActionsProps) {
  const [isLeaving, setIsLeaving] = useState(false);
  const [error, setError] = useState<unknown>(null);
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
      setError(thrown);
      setIsLeaving(false);
      void onChanged();
    }
  };
  return (
    <>
      <ErrorMessage error={error} />
      <div class="toolbar">
        {order.provider === "stripe" && (
          <Button look="primary" isBusy={isLeaving} onClick={() => void pay()}>
            Continue to payment
          </Button>
        )}
        <ConfirmButton
          button={{ children: "Cancel order" }}
          title="Cancel the order?"
          confirmLabel="Cancel order"
          closeLabel="Keep order"
          onConfirm={async () => {
            await must(api.POST("/api/v1/billing/orders/{order_id}/cancel", { params }));
            await onChanged();
          }}
        >
          <p>
            The order is closed: it can no longer be paid or approved, and no credits are added. You can order again.
          </p>
        </ConfirmButton>
      </div>
    </>
  );
}

type Order = Schemas["Order"];
type ShownOrder = { order: Order; administered: AdminOrder | null };

const SLOW_MS = 20_000;
const FAST_MS = 3_000;
/** Most payments are confirmed within seconds. Administrators and some payment methods take longer. */
const MAX_FAST_AGE_MS = 10 * 60_000;

function toRefreshMs({ state, provider, created_at: at }: Order): number | undefined {
  if (state !== "pending") return undefined;
  return provider === "stripe" && Date.now() - Date.parse(at) < MAX_FAST_AGE_MS ? FAST_MS : SLOW_MS;
}

/** Loads the order. `workspaceId` is the shared workspace in the address; the dashboard may show another one. */
function useOrder(orderId: string, workspaceId: string | undefined): Resource<ShownOrder> {
  const asAdmin = useRef(isAdmin.value);
  return useRead<ShownOrder>(
    ["credits", "order", orderId, workspaceId],
    async (signal) => {
      const administered = asAdmin.current ? await readAdministered(orderId, signal) : null;
      // Asks for the password only once: this page reloads automatically.
      asAdmin.current = administered !== null;
      if (administered !== null) return { order: administered, administered };
      const params = { path: { order_id: orderId }, header: toOrderHeader(workspaceId) };
      const order = await must(api.GET("/api/v1/billing/orders/{order_id}", { params, signal }));
      return { order, administered: null };
    },
    { refreshMs: ({ order }) => toRefreshMs(order) },
  );
}

/** Returns the header with the workspace of an order. */
const toOrderHeader = (workspaceId: string | undefined): WorkspaceHeader =>
  toWorkspaceHeader(workspaceId ?? me.value?.id ?? null);

/** Returns the user's workspace of an order, or undefined if the user is not a member. */
const findOrderWorkspace = (workspaceId: string | undefined): Workspace | undefined =>
  workspaces.value.find(({ id, is_personal: isPersonal }) =>
    workspaceId === undefined ? isPersonal : id === workspaceId,
  );

/**
 * Loads any order as an administrator. Returns null if the user did not enter the password; their own orders are still
 * shown.
 */
const readAdministered = (orderId: string, signal: AbortSignal): Promise<AdminOrder | null> =>
  must(api.GET("/api/v1/admin/orders/{order_id}", { params: { path: { order_id: orderId } }, signal })).catch(
    (error: unknown) => {
      if (error instanceof ApiError && error.status === 403) return null;
      throw error;
    },
  );

/** The title already shows the state; these texts describe the next steps. */
const NEXT_STEPS: Record<Order["provider"], Record<Order["state"], string>> = {
  offline: {
    pending:
      "Pay as agreed with your administrator. The credits are added when the administrator approves the order. This page updates automatically.",
    paid: "The credits were added.",
    rejected: "No credits were added.",
    expired: "No credits were added. You can order again.",
  },
  stripe: {
    pending:
      "The payment is not confirmed yet. This page updates automatically, usually within seconds. Some payment methods take days.",
    paid: "The credits were added.",
    rejected: "The payment failed, so no credits were added. You can order again.",
    expired: "The order was cancelled or not paid in time. Nothing was charged.",
  },
};

function describeNext({ provider, state }: Order): string {
  const text = NEXT_STEPS[provider][state];
  const isRefused = provider === "offline" && state === "rejected";
  return isRefused && !isAdmin.value ? `${text} Ask your administrator for the reason.` : text;
}

const NO_RENEWAL: Fact = ["Renewal", "None: credits are added once. Order again for more."];

/** Lists the facts of an order. Administrators also see who ordered it. */
function listOrderFacts({ order, administered }: ShownOrder): Fact[] {
  const facts: Fact[] = [
    ["Item", order.name],
    ...(order.name === formatCount(order.credits, "credit") ? [] : [["Credits", toNumber(order.credits)] as Fact]),
    ["Price", formatPrice(order)],
    ...(order.provider === "offline" && order.interval !== null ? [NO_RENEWAL] : []),
    ["Ordered", formatTime(order.created_at)],
    ["Order number", order.id],
  ];
  if (administered === null) return facts;
  return [
    ...facts,
    ["Ordered by", administered.created_by?.email ?? "Deleted account"],
    ["Workspace", administered.workspace?.name ?? "Deleted workspace"],
  ];
}
