/** Two compiled workers do everything for a head that does nothing itself. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { BUNDLED_FFMPEG, FFMPEG } from "../http/media";
import { openRedis, REDIS_SERVER } from "../redis";
import { FIXTURES, IS_BUNDLED_PASS } from "./offcut";
import { createJoinToken, revokeJoinToken, startServer } from "./server";
import { startWorkerProcess } from "./worker-process";

const TIMEOUT_MS = 180_000;
const NO_LOCAL_JOBS = { PREPARE_JOBS: "0", CUT_JOBS: "0", RENDER_JOBS: "0", PREVIEWS: "on_opening" };

test.skipIf(IS_BUNDLED_PASS || REDIS_SERVER === null)(
  "two workers prepare, cut and render a talk, one leaves and one is revoked",
  async () => {
    await using redis = await openRedis();
    await using head = await startServer({ REDIS_URL: redis.url, ...NO_LOCAL_JOBS });
    const open = async (name: string, jobs: string) => {
      const token = await createJoinToken(head.data, name);
      return {
        token,
        ...(await startWorkerProcess({
          HEAD: head.url(),
          REDIS: redis.url,
          TOKEN: token,
          JOBS: jobs,
          FFMPEG: BUNDLED_FFMPEG,
        })),
      };
    };
    await using speaker = await open("speaker", "prepare,cut");
    await using editor = await open("editor", "render");
    const user = await head.user();
    const [talk, script] = await Promise.all([
      Bun.file(join(FIXTURES, "talk.mp4")).bytes(),
      Bun.file(join(FIXTURES, "talk.script.txt")).text(),
    ]);
    const asset = await user.ready(talk, { filename: "talk.mp4" });
    const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id, script })).id);
    expect(cut).toMatchObject({ state: "completed" });
    const started = await user.startRender({ asset_id: asset.id, cut_id: cut.id });
    const render = await user.renderEnded(started.id);
    expect(render).toMatchObject({ state: "completed" });
    const rendered = join(head.folder, "rendered.mp4");
    await Bun.write(rendered, await fetch(render.download_url!));
    const { segments } = (await user.cut(cut.id)).plan!;
    const frames = segments.reduce((sum, { start_frame, end_frame }) => sum + end_frame! - start_frame!, 0);
    expect(await countFrames(rendered)).toBe(frames);

    const kinds = (worker: typeof speaker) =>
      worker.log
        .filter(({ event, status }) => event === "execution.ended" && status === "completed")
        .map((l) => l.kind);
    expect(kinds(speaker)).toEqual(["prepare", "cut"]);
    expect(kinds(editor)).toContain("render");
    for (const { log, token } of [speaker, editor])
      expect(JSON.stringify(log)).not.toMatch(new RegExp(`${token}|signature`));

    speaker.kill("SIGTERM");
    expect(await speaker.ended).toEqual({ code: 0, stderr: "" });
    await revokeJoinToken(head.data, "editor");
    const refused = await editor.ended;
    expect(refused.code).toBe(77);
    expect(refused.stderr).toMatch(/^offcut worker: [^\n]*revoked[^\n]*\n$/);
  },
  TIMEOUT_MS,
);

async function countFrames(path: string): Promise<number> {
  const child = Bun.spawn([FFMPEG, "-v", "error", "-i", path, "-map", "0:v", "-f", "framemd5", "-"], {
    stderr: "ignore",
  });
  const text = await new Response(child.stdout).text();
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
}
