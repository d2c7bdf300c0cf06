/** The public family, `/v1`: the whole route table. Uploads (`/v1/uploads/…`) are in `http/uploads/`. */
import type { Route } from "../route";
import { accountRoutes } from "./account";
import { assetRoutes } from "./assets";
import { cutRoutes } from "./cuts";
import { projectRoutes } from "./projects";
import { renderRoutes } from "./renders";
import { webhookRoutes } from "./webhook-endpoints";

export const publicRoutes: Route[] = [
  ...projectRoutes,
  ...assetRoutes,
  ...cutRoutes,
  ...renderRoutes,
  ...accountRoutes,
  ...webhookRoutes,
];
