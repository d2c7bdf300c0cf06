/** Loads an order and keeps it current until it is decided. */
import { useRef } from "preact/hooks";
import { ApiError, api, must, type Schemas } from "../../app/api";
import type { Resource } from "../../app/cache";
import { useRead } from "../../app/cache";
import { isAdmin, session, type Workspace, workspaces } from "../../app/session";

type Order = Schemas["Order"];
type AdminOrder = Schemas["AdminOrder"];
export type ShownOrder = { order: Order; administered: AdminOrder | null };

const SLOW_MS = 20_000;
const FAST_MS = 3_000;
/** Most payments are confirmed within seconds. Administrators and some payment methods take longer. */
const MAX_FAST_AGE_MS = 10 * 60_000;

function toRefreshMs({ state, provider, created_at: at }: Order): number | undefined {
  if (state !== "pending") return undefined;
  return provider === "stripe" && Date.now() - Date.parse(at) < MAX_FAST_AGE_MS ? FAST_MS : SLOW_MS;
}

/** Loads the order. `workspaceId` is the shared workspace in the address; the dashboard may show another one. */
export function useOrder(orderId: string, workspaceId: string | undefined): Resource<ShownOrder> {
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
export const toOrderHeader = (workspaceId: string | undefined): { "Offcut-Workspace"?: string } => {
  const id = workspaceId ?? (session.value.kind === "signed-in" ? session.value.me.id : undefined);
  return id === undefined ? {} : { "Offcut-Workspace": id };
};

/** Returns the user's workspace of an order, or undefined if the user is not a member. */
export const findOrderWorkspace = (workspaceId: string | undefined): Workspace | undefined =>
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
