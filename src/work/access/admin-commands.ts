/**
 * The administration commands by name. They run in the server that holds the data folder, or without a server in the
 * command itself.
 */
import { join, resolve } from "node:path";
import { KEY_SCOPES, type KeyScope } from "../../domain/access";
import { DATABASE_NAME } from "../../domain/backup";
import { AppError, badRequest } from "../../domain/errors";
import { findDatabaseProblems } from "../../store/database-file";
import { listStorageByUser } from "../../store/storage";
import { createRunRecorder } from "../backup/backup-status";
import type { BackupNeeds } from "../backup/backups";
import type { ClusterNeeds } from "../cluster/cluster";
import { reportWorkers } from "../cluster/worker-report";
import { createWorkerToken, listTokenViews, revokeToken, toTokenView } from "../cluster/worker-tokens";
import { readSupportReport } from "../health/support-report";
import type { Passwords } from "../identity/passwords";
import type { Setup } from "../identity/setup";
import type { Mails } from "../mail/mails";
import { CHECK_FOLDER } from "../upgrade/check-folder";
import { COMMAND_ACTOR } from "./audit";
import {
  createApiKey,
  createUser,
  disableUser,
  grantCredits,
  listAccounts,
  listKeys,
  refundAsset,
  resetTwoFactor,
  revokeKey,
} from "./command-accounts";

export type AdminNeeds = BackupNeeds & ClusterNeeds & { mails: Mails; passwords: Passwords; setup: Setup };
type Arguments = Record<string, unknown>;

const COMMANDS: Record<string, (services: AdminNeeds, args: Arguments) => Promise<unknown>> = {
  "setup url": async ({ setup }) => ({ url: await setup.url() }),
  "user create": (services, args) =>
    createUser(services, {
      email: text(args, "email"),
      password: text(args, "password"),
      admin: args.admin === true,
      credits: args.credits === undefined ? null : number(args, "credits"),
    }),
  "user list": (services) => listAccounts(services),
  "user grant": (services, args) =>
    grantCredits(services, { email: text(args, "email"), credits: number(args, "credits") }),
  "user refund": (services, args) => refundAsset(services, { assetId: text(args, "assetId") }),
  "storage list": async ({ store }) =>
    (await listStorageByUser(store.read)).map(({ email, bytes }) => ({ email, used_bytes: bytes })),
  "user disable": (services, args) => disableUser(services, { email: text(args, "email"), disabled: true }),
  "user enable": (services, args) => disableUser(services, { email: text(args, "email"), disabled: false }),
  "user reset-two-factor": (services, args) => resetTwoFactor(services, { email: text(args, "email") }),
  "key create": (services, args) =>
    createApiKey(
      services,
      {
        email: text(args, "email"),
        name: text(args, "name"),
        expires: args.expires === undefined ? null : text(args, "expires"),
        scopes: args.scopes === undefined ? [...KEY_SCOPES] : scopes(args),
        workspace: args.workspace === undefined ? null : text(args, "workspace"),
      },
      services.mails,
    ),
  "key list": (services, args) => listKeys(services, { email: args.email === undefined ? null : text(args, "email") }),
  "key revoke": (services, args) => revokeKey(services, { id: text(args, "id") }),
  "backup create": async ({ backups, now }, args) => {
    const options = { target: text(args, "target"), hasMedia: args.media !== false };
    return (await backups.create(options, createRunRecorder(COMMAND_ACTOR, now))).done;
  },
  "backup key create": async ({ backups }) => ({ recovery_key: await backups.createRecoveryKey() }),
  "backup verify": async ({ backups, now }, args) => {
    const options = { path: text(args, "path"), sample: number(args, "sample") };
    return (await backups.verify(options, createRunRecorder(COMMAND_ACTOR, now))).done;
  },
  "backup drill": async ({ backups, now }, args) =>
    (await backups.drill({ path: text(args, "path") }, createRunRecorder(COMMAND_ACTOR, now))).done,
  "backup check": async ({ backups, config: { backupTo } }) => ({
    problem: backupTo === null ? null : await backups.findProblem(backupTo),
  }),
  "backup state": async ({ backups }) => ({ is_writing: backups.isWriting() }),
  "database check": async ({ config }) => ({
    problems: await findDatabaseProblems(join(resolve(config.dataDir), DATABASE_NAME), { isQuick: true }),
  }),
  "database copy": async ({ store, config }, args) => {
    const folder = text(args, "folder");
    if (!CHECK_FOLDER.test(folder)) throw badRequest("folder must be that of a check of an upgrade.");
    await store.copyTo(join(resolve(config.dataDir), folder, DATABASE_NAME));
    return {};
  },
  "support read": (services, args) => readSupportReport(services, texts(args, "texts")),
  "worker token create": async ({ store, now }, args) => {
    const { token, secret } = await store.write((tx) =>
      createWorkerToken(tx, COMMAND_ACTOR, text(args, "name"), now()),
    );
    return { ...toTokenView({ token, workerId: null }), token: secret };
  },
  "worker list": reportWorkers,
  "worker token list": ({ store }) => listTokenViews(store.read),
  "worker token revoke": async (services, args) => {
    const token = await revokeToken(services, COMMAND_ACTOR, { name: text(args, "name") });
    return toTokenView({ token, workerId: null });
  },
};

/**
 * Runs a command. Errors: `not_found` for an unknown command; `bad_request` for invalid arguments; those of the
 * command.
 */
export async function runAdmin(services: AdminNeeds, name: string, args: Arguments): Promise<unknown> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new AppError("not_found", `Unknown command "${name}". The server may be an older version.`);
  return command(services, args);
}

function text(args: Arguments, name: string): string {
  const value = args[name];
  if (typeof value !== "string" || value === "") throw badRequest(`${name} is required.`);
  return value;
}

const texts = (args: Arguments, name: string): string[] =>
  Array.isArray(args[name]) ? args[name].filter((value) => typeof value === "string") : [];

function scopes(args: Arguments): KeyScope[] {
  const values = Array.isArray(args.scopes) ? args.scopes : [];
  const known = KEY_SCOPES.filter((scope) => values.includes(scope));
  if (known.length === 0 || known.length !== values.length)
    throw badRequest(`scopes must be a list of ${KEY_SCOPES.join(", ")}.`);
  return known;
}

function number(args: Arguments, name: string): number {
  const value = args[name];
  if (typeof value !== "number") throw badRequest(`${name} must be a number.`);
  return value;
}
