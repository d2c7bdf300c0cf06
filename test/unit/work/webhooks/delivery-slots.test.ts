import { expect, test } from "bun:test";
import { createDeliverySlots, type DeliverySlots } from "../../../../src/work/webhooks/delivery-slots";

/** Returns `count` due deliveries of a user to each endpoint. */
const dueTo = (user: string, endpoints: number, count: number) =>
  Array.from({ length: endpoints * count }, (_, n) => ({
    id: `${user}-${n}`,
    endpointId: `${user}-endpoint-${n % endpoints}`,
  }));

/** Starts as many deliveries as there are slots. Returns how many each user and endpoint has in flight. */
function fill(slots: DeliverySlots, due: Record<string, ReturnType<typeof dueTo>>) {
  const order: string[] = [];
  const byEndpoint = new Map<string, number>();
  const open = new Set(Object.keys(due));
  for (let user = slots.nextWorkspace(open); user !== null; user = slots.nextWorkspace(open)) {
    const next = slots.nextDelivery(user, due[user]!);
    if (next === null) {
      open.delete(user);
      continue;
    }
    slots.acquire(user, next);
    order.push(user);
    byEndpoint.set(next.endpointId, (byEndpoint.get(next.endpointId) ?? 0) + 1);
  }
  return { order, byEndpoint, of: (user: string) => order.filter((one) => one === user).length };
}

test("one user has at most 8 deliveries in flight, spread over the endpoints", () => {
  const started = fill(createDeliverySlots(), { anna: dueTo("anna", 50, 4) });
  expect(started.of("anna")).toBe(8);
  expect(new Set(started.byEndpoint.values())).toEqual(new Set([1]));
});

test("one endpoint has at most 4 deliveries in flight", () => {
  expect(fill(createDeliverySlots(), { anna: dueTo("anna", 1, 100) }).of("anna")).toBe(4);
});

test("users take turns", () => {
  const started = fill(createDeliverySlots(), {
    anna: dueTo("anna", 9, 9),
    bert: dueTo("bert", 9, 9),
    carl: dueTo("carl", 1, 2),
  });
  expect(started.order.slice(0, 6)).toEqual(["anna", "bert", "carl", "anna", "bert", "carl"]);
  expect([started.of("anna"), started.of("bert"), started.of("carl")]).toEqual([8, 8, 2]);
});

test("the first delivery of a user starts at once, however many deliveries of other users hang", () => {
  const slots = createDeliverySlots();
  const users = Array.from({ length: 20 }, (_, n) => `user${n}`);
  const started = fill(slots, Object.fromEntries(users.map((user) => [user, dueTo(user, 9, 9)])));
  expect(started.order).toHaveLength(32);
  expect(slots.hasRoom("user0")).toBe(false);
  expect(slots.hasRoom("anna")).toBe(true);
  slots.acquire("anna", { id: "first", endpointId: "a" });
  expect(slots.hasRoom("anna")).toBe(false);
});

test("the number of deliveries of all users is limited", () => {
  const slots = createDeliverySlots();
  const users = Array.from({ length: 300 }, (_, n) => `user${n}`);
  const started = fill(slots, Object.fromEntries(users.map((user) => [user, dueTo(user, 1, 1)])));
  expect(started.order).toHaveLength(256);
  expect(slots.nextWorkspace(["anna"])).toBeNull();
});

test("a delivery in flight is not started again, and its slot is released when it has ended", () => {
  const slots = createDeliverySlots();
  const [only] = dueTo("anna", 1, 1);
  const release = slots.acquire("anna", only!);
  expect(slots.nextDelivery("anna", [only!])).toBeNull();
  release();
  expect(slots.nextDelivery("anna", [only!])).toBe(only!);
});
