/**
 * Counts the operations of the head for one step: commands of Redis, commits and queries of the database. Head and
 * worker run in this process.
 */
import type { Queries } from "../../../src/store/db";
import { video } from "../../http/media";
import { withWorkers } from "../../http/with-workers";
import type { TestRedis } from "../../redis";
import { until } from "../../until";

const RENDERS = 20;
const IDLE_MS = 5_000;

/** Operations per step, without those of an idle worker. `idle…`: per second and worker. */
export type OperationFigures = {
  redisCommands: number;
  commits: number;
  queries: number;
  idleRedisCommands: number;
  idleQueries: number;
};

export async function countOperations(): Promise<OperationFigures> {
  await using cluster = await withWorkers({ RENDER_JOBS: "0", PREVIEWS: "on_opening" });
  const { server, redis } = cluster;
  await cluster.addWorker("worker");
  const user = await server.user();
  const film = await user.ready(await video(4), { filename: "film.mp4" });
  const { store } = server.services();
  let [commits, queries] = [0, 0];
  store.onCommit(() => commits++);
  store.read = countCalls(store.read, () => queries++);
  const measure = async (work: () => Promise<unknown>) => {
    const [commands, started] = [await countCommands(redis), performance.now()];
    [commits, queries] = [0, 0];
    await work();
    return {
      commands: (await countCommands(redis)) - commands,
      commits,
      queries,
      seconds: (performance.now() - started) / 1000,
    };
  };
  const idle = await measure(() => Bun.sleep(IDLE_MS));
  const busy = await measure(async () => {
    for (let n = 0; n < RENDERS; n++) {
      const { id } = await user.startRender({ asset_id: film.id, output: { video_bitrate: 50_000 + n } });
      // The log is read because asking the server would be counted.
      const isEnd = (line: string) => line.includes('"job.completed"') && line.includes(id);
      await until("the end of the render", () => server.log.some(isEnd), 60);
    }
  });
  const perStep = (busyCount: number, idleCount: number) =>
    Math.max(0, busyCount - (idleCount / idle.seconds) * busy.seconds) / RENDERS;
  return {
    redisCommands: perStep(busy.commands, idle.commands),
    commits: perStep(busy.commits, idle.commits),
    queries: perStep(busy.queries, idle.queries),
    idleRedisCommands: idle.commands / idle.seconds,
    idleQueries: idle.queries / idle.seconds,
  };
}

/** Counts the queries that are started on `read`. */
const countCalls = (read: Queries, count: () => void): Queries =>
  new Proxy(read, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (["select", "selectDistinct", "all", "get", "run", "values"].includes(String(name))) count();
        return (value as (...args: unknown[]) => unknown).apply(target, args);
      };
    },
  });

async function countCommands({ client }: TestRedis): Promise<number> {
  return Number(/^total_commands_processed:(\d+)/m.exec(await client.info("stats"))![1]);
}
