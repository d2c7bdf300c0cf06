/** What the server's requests and jobs work with. `boot.ts` creates it; functions take only the members that they use. */
import type { FoldersReserve } from "../blobs/folder-space";
import type { Folders } from "../blobs/folders";
import type { SignedLinks } from "../blobs/signed-links";
import type { Config } from "../config";
import type { PaymentGateway } from "../domain/billing";
import type { Runner } from "../domain/jobs";
import type { Log } from "../lib/log";
import type { Sealer } from "../lib/sealer";
import type { Resolve } from "../outbound/addresses";
import type { OidcClient } from "../outbound/oidc";
import type { Store } from "../store/db";
import type { Cursors } from "../store/paging";
import type { Backups } from "./backup/backups";
import type { Cluster } from "./cluster/cluster";
import type { WorkerList } from "./cluster/worker-list";
import type { PlanRequests } from "./cuts/plan-requests";
import type { ServerCounters } from "./health/metrics";
import type { SystemHealth } from "./health/system-health";
import type { Passwords } from "./identity/passwords";
import type { Sessions } from "./identity/sessions";
import type { Setup } from "./identity/setup";
import type { SignInLimits } from "./identity/sign-in-limits";
import type { LiveEvents } from "./live/events";
import type { LiveStreams } from "./live/streams";
import type { Mails } from "./mail/mails";
import type { Pieces } from "./previews/pieces";
import type { Alerts } from "./upkeep/alerts";
import type { FileRestores } from "./upkeep/file-restores";

export type Services = {
  config: Config;
  store: Store;
  folders: Folders;
  /** The free space of the data folder and the media folder. */
  disk: FoldersReserve;
  links: SignedLinks;
  cursors: Cursors;
  passwords: Passwords;
  sessions: Sessions;
  setup: Setup;
  signInLimits: SignInLimits;
  mails: Mails;
  liveEvents: LiveEvents;
  liveStreams: LiveStreams;
  /** Encrypts what the database must not contain in clear. */
  sealer: Sealer;
  oidc: OidcClient;
  /** The payment provider; null for the offline one, whose orders an administrator approves. */
  payments: PaymentGateway | null;
  log: Log;
  /** Returns milliseconds since 1970. Tests replace it. */
  now(): number;
  runner: Runner;
  /** Makes the timelines, subtitles and edits that requests ask for. */
  planRequests: PlanRequests;
  /** Makes the parts of previews that players ask for. */
  pieces: Pieces;
  /** Returns a resolver for host names in a workspace's URLs, with limits for the workspace and for all workspaces together. */
  resolverFor(workspaceId: string): Resolve;
  /** The folder of the bundled dashboard. */
  webDir: string;
  /** Path of the licenses of the bundled software. The file may be missing when run from the sources. */
  licensesPath: string;
  /** Path of the ffmpeg in use. */
  ffmpegPath: string;
  /** Returns the URL at which clients reach this server, without a trailing slash. */
  publicUrl(): string;
  /** Returns the state of the server for administrators. */
  readHealth(): Promise<SystemHealth>;
  /** What requests and jobs count for the metrics. */
  counters: ServerCounters;
  /** Returns the metrics of the server as text. */
  readMetrics(): Promise<string>;
  /** Copies of the data folder. */
  backups: Backups;
  /** What restores single files from backups. */
  fileRestores: FileRestores;
  /** Looks for problems and notifies administrators. */
  alerts: Alerts;
  /** The workers on other machines. */
  workerList: WorkerList;
  /** What runs jobs on workers; null without Redis. */
  cluster: Cluster | null;
};
