/** The services that all features need. `boot.ts` creates them; functions take the needs of their feature. */
import type { SignedLinks } from "../blobs/signed-links";
import type { Cursors } from "../store/paging";
import type { BackupNeeds } from "./backup/backups";
import type { BillingNeeds } from "./billing/needs";
import type { PlanNeeds } from "./cuts/plan-requests";
import type { BatchExports } from "./exports/batch-exports";
import type { HealthNeeds } from "./health/readiness";
import type { SystemHealth } from "./health/system-health";
import type { IdentityNeeds } from "./identity/needs";
import type { JobNeeds } from "./jobs/needs";
import type { Presence } from "./live/presence";
import type { PipelineNeeds } from "./pipelines/pipelines";
import type { Pieces } from "./previews/pieces";
import type { Alerts } from "./upkeep/alerts";
import type { FileRestores } from "./upkeep/file-restores";
import type { WebhookNeeds } from "./webhooks/endpoints";

export type Services = BackupNeeds &
  BillingNeeds &
  HealthNeeds &
  IdentityNeeds &
  JobNeeds &
  PipelineNeeds &
  PlanNeeds &
  WebhookNeeds & {
    /** The users who have a cut open. */
    presence: Presence;
    /** Exports of several recordings as one archive. */
    batchExports: BatchExports;
    links: SignedLinks;
    cursors: Cursors;
    /** Creates the parts of previews that players request. */
    pieces: Pieces;
    /** The folder of the bundled dashboard. */
    webDir: string;
    /** Path of the licenses of the bundled software. The file may be missing when run from the sources. */
    licensesPath: string;
    readHealth(): Promise<SystemHealth>;
    readMetrics(): Promise<string>;
    /** Restores single files from backups. */
    fileRestores: FileRestores;
    /** Looks for problems and notifies administrators. */
    alerts: Alerts;
  };
