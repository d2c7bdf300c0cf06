/**
 * A simple model of the credit rules, to compare the product with. Credits that remain when no asset waits are held for
 * assets in preparation, oldest first. Assets are identified by number. The price of an asset is a hold during
 * preparation and a charge afterwards.
 */
type ModelAsset = {
  price: number;
  state: "processing" | "waiting" | "ready" | "failed" | "deleted";
  held: boolean;
  isKnown: boolean;
};

export type CreditModel = {
  assets: ModelAsset[];
  granted: number;
  /** Waiting assets in the order in which they started to wait. */
  waiting: number[];
  balance(): number;
  grant(credits: number): void;
  add(price: number): void;
  learnDuration(n: number): void;
  finish(n: number): void;
  fail(n: number): void;
  remove(n: number): void;
  /** Refunds the charge, once, whether or not the asset was deleted. */
  refund(n: number): void;
  canRefund(n: number): boolean;
};

export function creditModel(): CreditModel {
  const assets: ModelAsset[] = [];
  const waiting: number[] = [];
  const model: CreditModel = {
    assets,
    waiting,
    granted: 0,
    balance: () => {
      const charged = assets.filter((a) => a.held || a.state === "ready" || paidAndDeleted.has(a));
      return model.granted - charged.reduce((sum, a) => sum + a.price, 0);
    },
    grant: (credits) => {
      model.granted += credits;
      settle();
    },
    add: (price) => assets.push({ price, state: "processing", held: false, isKnown: false }),
    learnDuration: (n) => {
      const asset = assets[n]!;
      asset.isKnown = true;
      if (waiting.length === 0 && !asset.held && model.balance() >= asset.price) asset.held = true;
    },
    finish: (n) => {
      const asset = assets[n]!;
      if (asset.held) return pay(asset);
      asset.state = "waiting";
      waiting.push(n);
      settle();
    },
    fail: (n) => {
      assets[n]!.state = "failed";
      release(n);
    },
    remove: (n) => {
      const asset = assets[n]!;
      if (asset.state === "ready") paidAndDeleted.add(asset);
      asset.state = "deleted";
      if (waiting.includes(n)) waiting.splice(waiting.indexOf(n), 1);
      release(n);
    },
    refund: (n) => {
      refunded.add(assets[n]!);
      model.granted += assets[n]!.price;
      settle();
    },
    canRefund: (n) => {
      const asset = assets[n]!;
      return asset.price > 0 && (asset.state === "ready" || paidAndDeleted.has(asset)) && !refunded.has(asset);
    },
  };
  const refunded = new Set<ModelAsset>();
  const paidAndDeleted = new Set<ModelAsset>();

  function pay(asset: ModelAsset): void {
    asset.held = false;
    asset.state = "ready";
  }

  function release(n: number): void {
    assets[n]!.held = false;
    settle();
  }

  function settle(): void {
    while (waiting.length > 0 && model.balance() >= assets[waiting[0]!]!.price) pay(assets[waiting.shift()!]!);
    if (waiting.length > 0) return;
    for (const asset of assets) {
      if (asset.state !== "processing" || !asset.isKnown || asset.held) continue;
      if (model.balance() < asset.price) return;
      asset.held = true;
    }
  }

  return model;
}
