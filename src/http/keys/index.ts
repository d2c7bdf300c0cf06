/** The family of API keys: for users with a session, with the errors of the public family. */
import { createRoutes } from "../route";
import * as keys from "./api-keys";

export const KEYS_PREFIX = "/api-keys";

export const keyRoutes = createRoutes([
  ["POST", "", keys.create],
  ["GET", "", keys.list],
  ["DELETE", "/:key_id", keys.remove],
]);
