import { api, type Schemas } from "../../app/api";
import type { Resource } from "../../app/cache";
import { useRead } from "../../app/cache";
import { mustAdmin } from "./admin-api";

/** Reads the health of the server, which every part of a page shares. */
export const useHealth = (): Resource<Schemas["SystemHealth"]> =>
  useRead(["health"], (signal) => mustAdmin(api.GET("/api/v1/admin/health", { signal })), { refreshMs: 10_000 });
