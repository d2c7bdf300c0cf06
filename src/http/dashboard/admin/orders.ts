/** Orders of all workspaces, for administrators, who approve or reject those of the offline provider. */
import { Type } from "@sinclair/typebox";
import { oneOf } from "../../../domain/schema-parts";
import { ORDER_STATES, PAYMENT_PROVIDERS } from "../../../domain/states";
import { findListedOrder, type ListedOrder, listAllOrders } from "../../../store/orders";
import { approveOrder, rejectOrder } from "../../../work/billing/orders";
import { type Call, type OpenCall, ok } from "../../call";
import { offsetListRoute } from "../../list-route";
import { respondsWith } from "../../response-docs";
import { createLoader, getResource, route } from "../../route";
import type { Resource } from "../../schemas";
import { showOrder } from "../billing";
import { toCallActor } from "../sign-in-client";

const showListedOrder = (
  call: Pick<OpenCall, "services">,
  { order, workspace, user }: ListedOrder,
): Resource<"AdminOrder"> => ({
  ...showOrder(call, order, order.user_id ?? order.workspace_id),
  workspace,
  created_by: user,
  decided_by: order.decided_by,
});

const load = createLoader("Order", "order_id", findListedOrder);

export const list = offsetListRoute({
  summary: "List the orders of all workspaces, newest first",
  filters: {
    state: Type.Optional(oneOf(...ORDER_STATES)),
    provider: Type.Optional(oneOf(...PAYMENT_PROVIDERS)),
  },
  item: "AdminOrder",
  description: "A page of orders",
  read: ({ services }, { filters, ...page }) => listAllOrders(services.store.read, filters, page),
  show: showListedOrder,
});

export const read = route({
  summary: "Retrieve an order of any workspace",
  load,
  responses: { 200: respondsWith("AdminOrder", "The order") },
  handle: async (call, { resource }) => ok(showListedOrder(call, resource)),
});

const decision = (summary: string, description: string, decide: typeof approveOrder) =>
  route({
    summary,
    load,
    errors: ["conflict"],
    responses: { 200: respondsWith("AdminOrder", description) },
    handle: async (call: Call, { resource }) => {
      const { services } = call;
      await services.store.write((tx) => decide(tx, toCallActor(call), resource.order.id, services.now()));
      return ok(showListedOrder(call, await getResource(call, load)));
    },
  });

export const approve = decision(
  "Approve an order that was paid outside of Offcut. Its workspace gets the credits",
  "The paid order",
  approveOrder,
);

export const reject = decision("Reject an order", "The rejected order", rejectOrder);
