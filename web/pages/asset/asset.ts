import type { Schemas } from "../../app/api";

export type Asset = Schemas["AssetDetail"];

export const nameOf = (asset: Asset): string => asset.filename ?? "Unnamed recording";
