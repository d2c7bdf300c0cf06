/** The schemas of all resources, by their names in the OpenAPI documents. */
import type { Static } from "@sinclair/typebox";
import { BACKUP_SCHEMAS } from "./dashboard/admin/backup-schemas";
import { ADMIN_SCHEMAS } from "./dashboard/admin/schemas";
import { WORKER_SCHEMAS } from "./dashboard/admin/worker-schemas";
import { BILLING_SCHEMAS } from "./dashboard/billing-schemas";
import { LIBRARY_SCHEMAS } from "./dashboard/library-schemas";
import { LIVE_SCHEMAS } from "./dashboard/live-schemas";
import { REVIEW_SCHEMAS } from "./dashboard/review-schemas";
import { DASHBOARD_SCHEMAS } from "./dashboard/schemas";
import { SEARCH_SCHEMAS } from "./dashboard/search-schemas";
import { VOCABULARY_SCHEMAS } from "./dashboard/vocabulary-schemas";
import { KEY_SCHEMAS } from "./keys/schemas";
import { OAUTH_SCHEMAS } from "./oauth/schemas";
import { PUBLIC_SCHEMAS } from "./public/schemas";

export const SCHEMAS = {
  ...PUBLIC_SCHEMAS,
  ...DASHBOARD_SCHEMAS,
  ...LIBRARY_SCHEMAS,
  ...LIVE_SCHEMAS,
  ...REVIEW_SCHEMAS,
  ...SEARCH_SCHEMAS,
  ...VOCABULARY_SCHEMAS,
  ...ADMIN_SCHEMAS,
  ...WORKER_SCHEMAS,
  ...BACKUP_SCHEMAS,
  ...BILLING_SCHEMAS,
  ...KEY_SCHEMAS,
  ...OAUTH_SCHEMAS,
};

export type SchemaName = keyof typeof SCHEMAS;

export type Resource<Name extends SchemaName> = Static<(typeof SCHEMAS)[Name]>;
