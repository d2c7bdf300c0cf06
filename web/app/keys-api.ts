/** The client for the user's API keys, typed from the OpenAPI document of their routes. */
import createClient from "openapi-fetch";
import type { components, paths } from "../../dist/api-types/keys";
import { sendToServer } from "./api";

export type ApiKey = components["schemas"]["ApiKey"];
export type NewApiKey = components["schemas"]["ApiKeyWithSecret"];

export const keysApi = createClient<paths>({
  baseUrl: location.origin,
  credentials: "same-origin",
  fetch: sendToServer,
});
