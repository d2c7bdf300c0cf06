import type { Schemas } from "../../app/api";

export type Asset = Schemas["AssetDetail"];

export const nameOf = ({ name, filename }: Pick<Asset, "name" | "filename">): string =>
  name ?? filename ?? "Unnamed recording";
